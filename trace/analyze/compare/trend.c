#include "trace/analyze/compare/trend.h"

#include <stdlib.h>
#include <string.h>

#include "trace/analyze/compare/compare_parts.h"
#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

/* Number of ops in a line of history: smaller ones are noise, and lines stay below 8 KiB. */
#define OPS_MAX 40u

static int trend_copy_text(const char **out, vp_arena *arena, const char *s)
{
    *out = s ? vp_arena_strndup(arena, s, strlen(s)) : NULL;
    return s && !*out ? vp_no_memory() : 0;
}

static int trend_add_device(trend_run *out, vp_arena *arena, const cmp_side *s)
{
    VP_CLEANUP(vp_free_ptr) cmp_classes *v = NULL;
    size_t slowest = 0;
    out->window_ps = out->compute_ps = out->exposed_comm_ps = VP_UNKNOWN;
    out->exposed_copy_ps = out->idle_ps = VP_UNKNOWN;
    if (!s->r->device_count)
        return 0;
    VP_TRY(cmp_classes_of(&v, s));
    for (size_t i = 1; i < s->r->device_count; i++)
        if (v[i].window > v[slowest].window)
            slowest = i;
    const cmp_classes *x = &v[slowest];
    out->window_ps = x->window;
    out->compute_ps = x->compute;
    out->exposed_comm_ps = x->comm;
    out->exposed_copy_ps = x->copy;
    out->idle_ps = x->idle;
    return trend_copy_text(&out->device, arena, s->r->devices[slowest].name);
}

static int by_compared_self(const void *pa, const void *pb)
{
    const cmp_op *a = pa, *b = pb;
    if (a->self_ps != b->self_ps)
        return a->self_ps > b->self_ps ? -1 : 1;
    return strcmp(a->op->name ? a->op->name : "", b->op->name ? b->op->name : "");
}

static int add_ops(trend_run *out, vp_arena *arena, const cmp_side *s)
{
    VP_CLEANUP(vp_free_ptr) cmp_op *v = NULL;
    size_t n;
    VP_TRY(cmp_ops_of(&v, &n, s));
    qsort(v, n, sizeof *v, by_compared_self);
    out->op_count = n < OPS_MAX ? n : OPS_MAX;
    out->ops = vp_arena_zalloc(arena, out->op_count * sizeof *out->ops);
    VP_NEED(out->ops);
    for (size_t i = 0; i < out->op_count; i++) {
        trend_op *x = &out->ops[i];
        x->op_class = v[i].op->op_class;
        x->self_ps = v[i].self_ps;
        VP_TRY(trend_copy_text(&x->category, arena, v[i].op->category));
        VP_TRY(trend_copy_text(&x->name, arena, v[i].op->name));
    }
    return 0;
}

/* Unix time in ns of a time of the report. */
static int64_t report_ps_to_unix_ns(const vp_report *r, int64_t ps)
{
    return r->base_unix_ns < 0 ? VP_UNKNOWN : r->base_unix_ns + ps / 1000;
}

static void add_numbers(trend_run *out, const vp_report *r)
{
    const vp_step *first = NULL, *last = NULL;
    for (size_t i = 0; i < r->steps.count; i++) {
        const vp_step *s = &r->steps.list[i];
        if (s->partial || s->number == VP_UNKNOWN)
            continue;
        first = !first || s->number < first->number ? s : first;
        last = !last || s->number > last->number ? s : last;
    }
    out->first_step = first ? first->number : VP_UNKNOWN;
    out->last_step = last ? last->number : VP_UNKNOWN;
    out->first_unix_ns = first ? report_ps_to_unix_ns(r, first->start_ps) : VP_UNKNOWN;
    out->last_end_unix_ns =
        last ? report_ps_to_unix_ns(r, last->start_ps + last->dur_ps) : VP_UNKNOWN;
}

int trend_run_of(trend_run *out, vp_arena *arena, const vp_report *r)
{
    const vp_steps *steps = &r->steps;
    cmp_side s = cmp_side_of(r, cmp_has_steps(r));
    if (r->depth != VP_DEPTH_FULL)
        return vp_fail(VP_EARG, "only full reports have a trend, not op tables alone");
    *out = (trend_run){.captured_unix_ns = r->captured_unix_ns,
                       .per_step = s.per_step,
                       .steps = steps->counted,
                       .median_ps = steps->median_ps,
                       .p90_ps = steps->p90_ps,
                       .mad_ps = steps->mad_ps};
    add_numbers(out, r);
    VP_TRY(trend_copy_text(&out->id, arena, r->session_id));
    VP_TRY(trend_copy_text(&out->name, arena, r->session_name));
    VP_TRY(trend_copy_text(&out->path, arena, r->session_path));
    VP_TRY(trend_add_device(out, arena, &s));
    return add_ops(out, arena, &s);
}

/* ---- Ops over runs ---- */

static uint64_t trend_op_key(const trend_op *op)
{
    const char *category = op->category ? op->category : "", *name = op->name ? op->name : "";
    uint64_t key = vp_hash(category, strlen(category), (uint64_t)op->op_class);
    return vp_hash(name, strlen(name), key);
}

static int by_moved(const void *pa, const void *pb)
{
    const trend_row *a = pa, *b = pb;
    if (a->moved_ps != b->moved_ps)
        return a->moved_ps > b->moved_ps ? -1 : 1;
    if (a->op->self_ps != b->op->self_ps)
        return a->op->self_ps > b->op->self_ps ? -1 : 1;
    return strcmp(a->op->name ? a->op->name : "", b->op->name ? b->op->name : "");
}

static int trend_add_row(trend_row *row, vp_arena *arena, const trend_op *op, size_t runs)
{
    *row = (trend_row){.op = op, .self_ps = vp_arena_alloc(arena, runs * sizeof *row->self_ps)};
    VP_NEED(row->self_ps);
    for (size_t i = 0; i < runs; i++)
        row->self_ps[i] = VP_UNKNOWN;
    return 0;
}

static int trend_collect_rows(trend_row *v, size_t *count, vp_map *by_key, vp_arena *arena,
                              const trend_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < runs[i].op_count; k++) {
            const trend_op *op = &runs[i].ops[k];
            uint32_t at = vp_map_get(by_key, trend_op_key(op));
            if (at == VP_MAP_NONE) {
                at = (uint32_t)(*count)++;
                VP_TRY(trend_add_row(&v[at], arena, op, n));
                VP_TRY(vp_map_set(by_key, trend_op_key(op), at));
            }
            v[at].self_ps[i] = op->self_ps;
            if (op->self_ps > v[at].op->self_ps)
                v[at].op = op;
        }
    return 0;
}

static void find_moves(trend_row *v, size_t count, size_t n)
{
    for (size_t i = 0; i < count; i++) {
        int64_t least = INT64_MAX, most = 0;
        for (size_t k = 0; k < n; k++) {
            int64_t x = v[i].self_ps[k];
            if (x == VP_UNKNOWN)
                continue;
            least = x < least ? x : least;
            most = x > most ? x : most;
        }
        v[i].moved_ps = most > least ? most - least : 0;
    }
}

int trend_rows(trend_row **rows, size_t *count, vp_arena *arena, const trend_run *runs, size_t n)
{
    size_t all = 0, found = 0;
    vp_map by_key;
    for (size_t i = 0; i < n; i++)
        all += runs[i].op_count;
    trend_row *v = vp_arena_zalloc(arena, all * sizeof *v);
    VP_NEED(v);
    vp_map_init(&by_key);
    int rc = trend_collect_rows(v, &found, &by_key, arena, runs, n);
    vp_map_free(&by_key);
    VP_TRY(rc);
    find_moves(v, found, n);
    if (found)
        qsort(v, found, sizeof *v, by_moved);
    *rows = v;
    *count = found;
    return 0;
}
