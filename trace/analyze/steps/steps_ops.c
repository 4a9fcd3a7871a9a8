/* Ops in steps: number of calls and time per step. */
#include "trace/analyze/device/device_sums.h"
#include "trace/analyze/device/ops.h"
#include "trace/analyze/steps/steps_parts.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"

#define POINTS_MAX 100 /* of an op's curve over the steps */

/* The complete steps of a device, to which self time is added. */
typedef struct booking {
    const analysis *a;
    const trace_track *track;
    const step_windows *w;
    const uint32_t *group_of; /* by kind */
    const uint32_t *op_of;    /* by group: index in the host's ops */
    uint32_t *point;    /* by window: its point on the curves; STEP_NONE: the step is incomplete */
    size_t at, call_at; /* the first window that may contain the next piece, and the next call */
} booking;

static vp_op *booked_op_of(const booking *b, size_t event)
{
    return &b->a->h->ops[b->op_of[b->group_of[trace_kind_of(b->track, event)]]];
}

/* A call belongs to the step in which it begins. */
static int book_call(void *ctx, size_t event, size_t *id)
{
    booking *b = ctx;
    const step_windows *w = b->w;
    int64_t start = trace_start(b->track, event);
    *id = event;
    while (b->call_at < w->count && w->end_ps[b->call_at] <= start)
        b->call_at++;
    if (b->call_at < w->count && w->start_ps[b->call_at] <= start &&
        b->point[b->call_at] != STEP_NONE)
        booked_op_of(b, event)->step_calls++;
    return 0;
}

static int book_op_time(void *ctx, size_t event, int64_t start, int64_t end)
{
    booking *b = ctx;
    vp_op *op = booked_op_of(b, event);
    const step_windows *w = b->w;
    while (b->at < w->count && w->end_ps[b->at] <= start)
        b->at++;
    for (size_t i = b->at; i < w->count && w->start_ps[i] < end; i++) {
        int64_t from = start > w->start_ps[i] ? start : w->start_ps[i];
        int64_t to = end < w->end_ps[i] ? end : w->end_ps[i];
        if (b->point[i] == STEP_NONE || to <= from)
            continue;
        op->step_self_ps += to - from;
        if (op->per_step_ps)
            op->per_step_ps[b->point[i]] += to - from;
    }
    return 0;
}

/* Assigns a point to each complete step; returns the number of complete steps. */
static size_t number_points(uint32_t *point, const step_windows *w, const vp_step *list,
                            size_t points)
{
    size_t n = 0, i;
    for (i = 0; i < w->count; i++)
        n += vp_step_counts(&list[w->step[i]]);
    size_t of = n, k = 0;
    for (i = 0; i < w->count; i++) {
        bool counts = vp_step_counts(&list[w->step[i]]);
        point[i] = counts ? (uint32_t)(k++ * points / (of ? of : 1)) : STEP_NONE;
    }
    return n;
}

static int open_ops(host_result *h, vp_op *ops, uint32_t n, uint32_t d, size_t points)
{
    for (uint32_t i = 0; i < n; i++) {
        vp_op *op = &ops[i];
        op->step_self_ps = op->step_calls = 0;
        /* Ops below 1% of the device's self time have no curve: there may be thousands. */
        if (!points || op->self_ps < h->devices[d].self_ps / 100 || !op->self_ps)
            continue;
        op->per_step_ps = vp_arena_zalloc(&h->arena, points * sizeof *op->per_step_ps);
        op->per_step_count = points;
        VP_NEED(op->per_step_ps);
    }
    return 0;
}

/* Divides the sums: a point may cover several steps. */
static void close_ops(vp_op *ops, uint32_t n, const uint32_t *point, size_t windows)
{
    int64_t steps[POINTS_MAX] = {0};
    for (size_t i = 0; i < windows; i++)
        if (point[i] != STEP_NONE)
            steps[point[i]]++;
    for (uint32_t i = 0; i < n; i++)
        for (size_t p = 0; p < ops[i].per_step_count; p++)
            ops[i].per_step_ps[p] /= steps[p];
}

static int book_device(booking *b, uint32_t d)
{
    const analysis *a = b->a;
    uint32_t groups = a->devices[d].times.group_n;
    vp_op *ops = a->h->ops + a->devices[d].first_op;
    size_t n = number_points(b->point, b->w, a->h->steps.list, 1);
    size_t points = n < POINTS_MAX ? n : POINTS_MAX;
    a->h->devices[d].steps_counted = (int64_t)n;
    if (!n)
        return 0;
    number_points(b->point, b->w, a->h->steps.list, points);
    VP_TRY(open_ops(a->h, ops, groups, d, points));
    for (size_t i = 0; i < a->devices[d].set.count; i++) {
        b->track = &a->t->tracks[a->devices[d].set.tracks[i]];
        b->at = b->call_at = 0;
        VP_TRY(self_pieces(b->track, book_call, book_op_time, b));
    }
    close_ops(ops, groups, b->point, b->w->count);
    return 0;
}

static int one_device(void *ctx, uint32_t d)
{
    const analysis *a = ctx;
    const step_windows *w = &a->windows[d];
    VP_CLEANUP(vp_free_ptr) uint32_t *point = vp_calloc(w->count + 1, sizeof *point);
    VP_CLEANUP(vp_free_ptr)
    uint32_t *op_of = vp_realloc_array(NULL, (size_t)grouping_count(a->g) + 1, sizeof *op_of);
    VP_NEED(point && op_of);
    ops_by_group_in(op_of, a, d);
    booking b = {.a = a, .w = w, .group_of = grouping_groups(a->g), .op_of = op_of, .point = point};
    return book_device(&b, d);
}

int step_ops_collect(analysis *a)
{
    return vp_each(device_sums_threads(a->t), (uint32_t)a->device_count, one_device, a);
}
