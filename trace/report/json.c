#include "trace/report/parts.h"

#include <math.h>

#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/mem.h"

/* DESIGN 7. Key order is part of the contract. */

static void put_time(vp_json *j, const char *key, int64_t ps)
{
    vp_json_key(j, key);
    if (ps == VP_NO_TIME)
        vp_json_null(j);
    else
        vp_json_i64(j, ps);
}

static void put_session(vp_json *j, const vp_report *r)
{
    vp_json_key(j, "session");
    vp_json_begin_object(j);
    vp_json_kcstr(j, "id", r->session_id);
    vp_json_kcstr(j, "name", r->session_name);
    vp_json_kcstr(j, "path", r->session_path);
    vp_json_kcstr(j, "kind", r->session_kind);
    vp_json_kcount(j, "captured_unix_ns", r->captured_unix_ns);
    vp_json_kcount(j, "base_unix_ns", r->base_unix_ns);
    vp_json_key(j, "hosts");
    vp_json_begin_array(j);
    for (size_t i = 0; i < r->host_count; i++)
        vp_json_cstr(j, r->hosts[i]);
    vp_json_end_array(j);
    vp_json_key(j, "files");
    vp_json_begin_array(j);
    for (size_t i = 0; i < r->file_count; i++) {
        vp_json_begin_object(j);
        vp_json_kcstr(j, "path", r->files[i].path);
        vp_json_kcstr(j, "kind", r->files[i].kind);
        vp_json_kcount(j, "bytes", r->files[i].bytes);
        vp_json_kcount(j, "events", r->files[i].events);
        vp_json_kbool(j, "partial", r->files[i].partial);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
    vp_json_end_object(j);
}

static void put_window(vp_json *j, const vp_report *r)
{
    vp_json_key(j, "window");
    vp_json_begin_object(j);
    vp_json_kcstr(j, "policy", r->has_devices ? "device" : "capture");
    vp_json_kcstr(j, "clock", r->own_clock ? "device" : "aligned");
    put_time(j, "start_ps", r->start_ps);
    put_time(j, "end_ps", r->end_ps);
    vp_json_end_object(j);
}

static void put_breakdown(vp_json *j, const vp_breakdown *b)
{
    vp_json_key(j, "breakdown");
    vp_json_begin_object(j);
    vp_json_kcount(j, "window_ps", b->window_ps);
    vp_json_kcount(j, "compute_ps", b->compute_ps);
    vp_json_kcount(j, "exposed_comm_ps", b->exposed_comm_ps);
    vp_json_kcount(j, "exposed_copy_ps", b->exposed_copy_ps);
    vp_json_kcount(j, "idle_ps", b->idle_ps);
    vp_json_kcount(j, "busy_ps", b->busy_ps);
    vp_json_kcount(j, "comm_ps", b->comm_ps);
    vp_json_kcount(j, "copy_ps", b->copy_ps);
    vp_json_kcount(j, "overlap_comm_ps", b->overlap_comm_ps);
    vp_json_end_object(j);
}

static void put_devices(vp_json *j, const vp_report *r, const vp_view *v)
{
    vp_json_key(j, "devices");
    vp_json_begin_array(j);
    for (size_t i = 0; i < r->device_count; i++) {
        const vp_device *d = &r->devices[i];
        if (!rep_device_matches(r, v, i))
            continue;
        vp_json_begin_object(j);
        vp_json_kcstr(j, "name", d->name);
        vp_json_kcstr(j, "host", d->host);
        vp_json_kcstr(j, "kind", rep_kind_name(d->kind));
        vp_json_kcount(j, "events", d->events);
        vp_json_key(j, "window");
        vp_json_begin_object(j);
        put_time(j, "start_ps", d->start_ps);
        put_time(j, "end_ps", d->end_ps);
        vp_json_end_object(j);
        put_breakdown(j, &d->breakdown);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
}

static void put_share(vp_json *j, const char *key, int64_t part, int64_t whole)
{
    vp_json_key(j, key);
    if (part < 0 || whole < 0)
        vp_json_null(j);
    else
        vp_json_ratio(j, part, whole);
}

static void put_rate(vp_json *j, const char *key, double v)
{
    vp_json_key(j, key);
    vp_json_double(j, v);
}

static void put_durations(vp_json *j, const vp_op *op)
{
    vp_json_kcount(j, "calls", op->calls);
    vp_json_kcount(j, "total_ps", op->total_ps);
    vp_json_kcount(j, "self_ps", op->self_ps);
    vp_json_kcount(j, "mean_ps", rep_mean_ps(op));
    vp_json_kcount(j, "min_ps", op->min_ps);
    vp_json_kcount(j, "p50_ps", op->p50_ps);
    vp_json_kcount(j, "p95_ps", op->p95_ps);
    vp_json_kcount(j, "max_ps", op->max_ps);
    vp_json_kcount(j, "stddev_ps", rep_stddev_ps(op));
}

static void put_op(vp_json *j, const vp_report *r, const vp_op *op, int64_t cumulative_ps)
{
    const vp_device *d = &r->devices[op->device];
    vp_json_begin_object(j);
    vp_json_kcstr(j, "device", d->name);
    vp_json_kcstr(j, "host", d->host);
    vp_json_kcstr(j, "class", rep_class_name(op->op_class));
    vp_json_kcstr(j, "category", op->category);
    vp_json_kcstr(j, "name", op->name);
    put_durations(j, op);
    put_share(j, "self_share_of_ops", op->self_ps, d->self_ps);
    put_share(j, "self_share_of_window", op->self_ps, d->breakdown.window_ps);
    put_share(j, "cumulative_share", cumulative_ps, d->self_ps);
    vp_json_key(j, "per_step_ps");
    vp_json_null(j);
    vp_json_kcount(j, "bytes", op->bytes);
    vp_json_kcount(j, "flops", op->flops);
    put_rate(j, "gb_per_s", rep_gb_per_s(op));
    put_rate(j, "gflop_per_s", rep_gflop_per_s(op));
    vp_json_kcstr(j, "scope", op->scope);
    vp_json_kcstr(j, "source", op->source);
    vp_json_kcstr(j, "module", op->module);
    vp_json_kcount(j, "raw_names", op->raw_names);
    vp_json_key(j, "slowest");
    vp_json_begin_object(j);
    put_time(j, "start_ps", op->slowest_start_ps);
    vp_json_kcount(j, "dur_ps", op->slowest_dur_ps);
    vp_json_end_object(j);
    vp_json_end_object(j);
}

static int put_ops(vp_json *j, const vp_report *r, const vp_view *v)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *rows = NULL;
    VP_CLEANUP(vp_free_ptr)
    int64_t *cumulative = vp_calloc(r->device_count + 1, sizeof *cumulative);
    size_t n, matching;
    if (!cumulative)
        return vp_fail(VP_ENOMEM, "out of memory");
    VP_TRY(rep_select(&rows, &n, &matching, r, v));
    vp_json_key(j, "ops");
    vp_json_begin_array(j);
    for (size_t i = 0; i < n; i++) {
        const vp_op *op = &r->ops[rows[i]];
        cumulative[op->device] += op->self_ps;
        put_op(j, r, op, cumulative[op->device]);
    }
    vp_json_end_array(j);
    return 0;
}

/* The pre-order array says by its depths where an object ends, however deep the tree is. */
static void put_scopes(vp_json *j, const vp_report *r)
{
    size_t open = 0;
    vp_json_key(j, "scopes");
    vp_json_begin_array(j);
    for (size_t i = 0; i < r->scope_count; i++) {
        const vp_scope *s = &r->scopes[i];
        for (; open > s->depth; open--) {
            vp_json_end_array(j);
            vp_json_end_object(j);
        }
        vp_json_begin_object(j);
        vp_json_kcstr(j, "path", s->path);
        vp_json_kcstr(j, "name", s->name);
        vp_json_kcount(j, "self_ps", s->self_ps);
        vp_json_kcount(j, "total_ps", s->total_ps);
        vp_json_kcount(j, "calls", s->calls);
        vp_json_key(j, "children");
        vp_json_begin_array(j);
        open++;
    }
    for (; open; open--) {
        vp_json_end_array(j);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
}

static void put_modules(vp_json *j, const vp_report *r)
{
    vp_json_key(j, "modules");
    vp_json_begin_array(j);
    for (size_t i = 0; i < r->module_count; i++) {
        const vp_module *m = &r->modules[i];
        vp_json_begin_object(j);
        vp_json_kcstr(j, "name", m->name);
        vp_json_key(j, "program_id");
        if (m->program_id == VP_UNKNOWN)
            vp_json_null(j);
        else
            vp_json_u64(j, (uint64_t)m->program_id);
        vp_json_kcount(j, "runs", m->runs);
        vp_json_kcount(j, "total_ps", m->total_ps);
        vp_json_kcount(j, "p50_ps", m->p50_ps);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
}

static void put_quality(vp_json *j, const vp_report *r)
{
    vp_json_key(j, "quality");
    vp_json_begin_array(j);
    for (size_t i = 0; i < r->quality_count; i++) {
        const vp_quality *q = &r->quality[i];
        vp_json_begin_object(j);
        vp_json_kcstr(j, "code", q->code);
        vp_json_kcstr(j, "severity", rep_severity_name(q->severity));
        vp_json_kcstr(j, "message", q->message);
        vp_json_kcstr(j, "file", q->file);
        vp_json_kcount(j, "event", q->event);
        vp_json_kcount(j, "byte", q->byte);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
}

void rep_json_open(vp_json *j, vp_buf *b, const vp_report *r, const char *schema)
{
    vp_json_init(j, b);
    vp_json_begin_object(j);
    vp_json_kcstr(j, "schema", schema);
    vp_json_key(j, "tool");
    vp_json_begin_object(j);
    vp_json_kcstr(j, "name", "view_profile");
    vp_json_kcstr(j, "version", VP_VERSION);
    vp_json_end_object(j);
    put_session(j, r);
    put_window(j, r);
}

/* Opens the object and writes what stands above the rows. */
static int put_head(vp_json *j, vp_buf *b, const vp_report *r, const vp_view *v)
{
    VP_TRY(rep_check_filters(r, v));
    rep_json_open(j, b, r, "view_profile.report/1");
    put_devices(j, r, v);
    return put_ops(j, r, v);
}

int rep_json(vp_buf *b, const vp_report *r, const vp_view *view)
{
    vp_view v = view ? *view : (vp_view){.version = 1};
    vp_json j;
    VP_TRY(put_head(&j, b, r, &v));
    put_scopes(&j, r);
    put_modules(&j, r);
    put_quality(&j, r);
    vp_json_end_object(&j);
    return vp_buf_putc(b, '\n');
}

int rep_json_ops(vp_buf *b, const vp_report *r, const vp_view *view)
{
    vp_view v = view ? *view : (vp_view){.version = 1};
    vp_json j;
    VP_TRY(put_head(&j, b, r, &v));
    vp_json_end_object(&j);
    return vp_buf_putc(b, '\n');
}
