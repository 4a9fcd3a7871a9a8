/* view_profile.compare/1: docs/reference/json.md#comparison. Key order is part of the contract. */
#include <math.h>

#include "trace/analyze/result/result_words.h"
#include "trace/base/json.h"
#include "trace/report/compare/compare_formats.h"
#include "trace/report/compare/compare_view.h"
#include "trace/report/data/report_json.h"
#include "trace/report/labels/words.h"

static void json_put_time_or_null(vp_json *j, const char *key, int64_t ps, int64_t unknown)
{
    vp_json_key(j, key);
    if (ps == unknown)
        vp_json_null(j);
    else
        vp_json_i64(j, ps);
}

/* The members of an open object. */
static void json_put_delta_members(vp_json *j, const vp_delta *d)
{
    json_put_time_or_null(j, "a_ps", d->a_ps, VP_UNKNOWN);
    json_put_time_or_null(j, "b_ps", d->b_ps, VP_UNKNOWN);
    json_put_time_or_null(j, "delta_ps", d->delta_ps, VP_NO_TIME);
}

static void put_ratio(vp_json *j, const vp_delta *d)
{
    vp_json_key(j, "ratio");
    if (d->a_ps > 0 && d->b_ps >= 0)
        vp_json_ratio(j, d->b_ps, d->a_ps);
    else
        vp_json_null(j);
}

void rep_json_delta(vp_json *j, const char *key, const vp_delta *d, bool with_ratio)
{
    vp_json_key(j, key);
    vp_json_begin_object(j);
    json_put_delta_members(j, d);
    if (with_ratio)
        put_ratio(j, d);
    vp_json_end_object(j);
}

static void json_put_run_side(vp_json *j, const char *key, const char *id, const char *name,
                              const char *path)
{
    vp_json_key(j, key);
    vp_json_begin_object(j);
    vp_json_key(j, "session");
    vp_json_begin_object(j);
    vp_json_kcstr(j, "id", id);
    vp_json_kcstr(j, "name", name);
    vp_json_kcstr(j, "path", path);
    vp_json_end_object(j);
    vp_json_end_object(j);
}

static void put_deltas(vp_json *j, const char *key, const char *const *words, const vp_delta *v)
{
    vp_json_key(j, key);
    vp_json_begin_object(j);
    for (size_t i = 0; words[i]; i++)
        rep_json_delta(j, words[i], &v[i], false);
    vp_json_end_object(j);
}

static void json_put_compared_devices(vp_json *j, const vp_comparison *c)
{
    vp_json_key(j, "devices");
    vp_json_begin_array(j);
    for (size_t i = 0; i < c->device_count; i++) {
        const vp_compared_device *d = &c->devices[i];
        vp_json_begin_object(j);
        vp_json_kcstr(j, "name", d->name);
        rep_json_delta(j, "window", &d->window, false);
        rep_json_delta(j, "compute", &d->compute, false);
        rep_json_delta(j, "exposed_comm", &d->exposed_comm, false);
        rep_json_delta(j, "exposed_copy", &d->exposed_copy, false);
        rep_json_delta(j, "idle", &d->idle, false);
        rep_json_delta(j, "exposed_wait", &d->wait, false);
        rep_json_delta(j, "exposed_transfer", &d->transfer, false);
        put_deltas(j, "idle_causes", result_cause_words, d->causes);
        put_deltas(j, "cells", result_cell_words, d->cells);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
}

void rep_json_compared_op(vp_json *j, const vp_compared_op *op)
{
    vp_json_begin_object(j);
    vp_json_kcstr(j, "device", op->device);
    vp_json_kcstr(j, "class", rep_class_name(op->op_class));
    vp_json_kcstr(j, "category", op->category);
    vp_json_kcstr(j, "name", op->name);
    vp_json_kcstr(j, "scope", op->scope);
    json_put_delta_members(j, &op->self);
    put_ratio(j, &op->self);
    vp_json_kcount(j, "calls_a", op->calls_a);
    vp_json_kcount(j, "calls_b", op->calls_b);
    vp_json_kbool(j, "new", op->is_new);
    vp_json_kbool(j, "gone", op->is_gone);
    vp_json_kbool(j, "significant", op->significant);
    vp_json_kcstr(j, "reason", op->reason);
    vp_json_kcount(j, "flops_a", op->flops_a);
    vp_json_kcount(j, "flops_b", op->flops_b);
    vp_json_kdouble(j, "time_per_flop_ratio", rep_flop_time_ratio(op));
    vp_json_kdouble(j, "span_calls_a", op->span_calls_a);
    vp_json_kdouble(j, "span_calls_b", op->span_calls_b);
    vp_json_kcstr(j, "name_b", op->name_b);
    vp_json_end_object(j);
}

static void put_noise(vp_json *j, const vp_comparison *c)
{
    vp_json_key(j, "noise");
    vp_json_begin_object(j);
    vp_json_kcount(j, "steps_a", c->steps_a);
    vp_json_kcount(j, "steps_b", c->steps_b);
    vp_json_kcount(j, "threshold_ps", c->threshold_ps);
    vp_json_kcstr(j, "verdict", rep_verdict_name(c->verdict));
    vp_json_kcstr(j, "reason", c->verdict_reason);
    vp_json_end_object(j);
}

static void json_put_compared_scopes(vp_json *j, const vp_comparison *c)
{
    vp_json_key(j, "scopes");
    vp_json_begin_array(j);
    for (size_t i = 0; i < c->scope_count; i++) {
        vp_json_begin_object(j);
        vp_json_kcstr(j, "path", c->scopes[i].path);
        vp_json_ki64(j, "depth", c->scopes[i].depth);
        json_put_delta_members(j, &c->scopes[i].total);
        rep_json_delta(j, "backward", &c->scopes[i].backward, false);
        put_deltas(j, "cells", result_cell_words, c->scopes[i].cells);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
}

static void put_bytes(vp_json *j, int64_t a, int64_t b, int64_t delta)
{
    vp_json_kcount(j, "a_bytes", a);
    vp_json_kcount(j, "b_bytes", b);
    vp_json_key(j, "delta_bytes");
    if (delta == VP_NO_TIME)
        vp_json_null(j);
    else
        vp_json_i64(j, delta);
}

static void json_put_compared_holders(vp_json *j, const char *key, const vp_compared_holder *h,
                                      size_t n)
{
    vp_json_key(j, key);
    vp_json_begin_array(j);
    for (size_t i = 0; i < n; i++) {
        vp_json_begin_object(j);
        vp_json_kcstr(j, "name", h[i].name);
        vp_json_kcstr(j, "scope", h[i].scope);
        vp_json_kcstr(j, "source", h[i].source);
        put_bytes(j, h[i].a_bytes, h[i].b_bytes, h[i].delta_bytes);
        vp_json_kcstr(j, "planned", h[i].planned);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
}

static void json_put_compared_memory(vp_json *j, const vp_comparison *c)
{
    vp_json_key(j, "memory");
    vp_json_begin_array(j);
    for (size_t i = 0; i < c->memory_count; i++) {
        const vp_compared_memory *m = &c->memory[i];
        vp_json_begin_object(j);
        vp_json_kcstr(j, "allocator", m->allocator);
        vp_json_kcstr(j, "program", m->program);
        vp_json_kcount(j, "space", m->space);
        put_bytes(j, m->a_bytes, m->b_bytes, m->delta_bytes);
        json_put_compared_holders(j, "holders", m->holders, m->holder_count);
        json_put_compared_holders(j, "scopes", m->scopes, m->scope_count);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
}

int rep_compare_json(vp_buf *b, const vp_comparison *c)
{
    vp_json j;
    vp_json_init(&j, b);
    rep_json_head(&j, "view_profile.compare/1");
    json_put_run_side(&j, "a", c->a_id, c->a_name, c->a_path);
    json_put_run_side(&j, "b", c->b_id, c->b_name, c->b_path);
    vp_json_kbool(&j, "per_step", c->per_step);
    rep_json_delta(&j, "step", &c->step, true);
    rep_json_delta(&j, "median", &c->median, true);
    rep_json_delta(&j, "p90", &c->p90, true);
    json_put_compared_devices(&j, c);
    vp_json_key(&j, "ops");
    vp_json_begin_array(&j);
    for (size_t i = 0; i < c->op_count; i++)
        rep_json_compared_op(&j, &c->ops[i]);
    vp_json_end_array(&j);
    put_noise(&j, c);
    rep_json_texts(&j, "findings_new", c->findings_new, c->new_count);
    rep_json_texts(&j, "findings_gone", c->findings_gone, c->gone_count);
    rep_json_texts(&j, "caveats", c->caveats, c->caveat_count);
    json_put_compared_scopes(&j, c);
    json_put_compared_memory(&j, c);
    vp_json_end_object(&j);
    return vp_buf_putc(b, '\n');
}
