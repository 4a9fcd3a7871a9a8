#include "trace/export/shared/lanes.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/model/sort.h"

/* Sorts after every real length, and among equal ones in file order. */
#define LATE (-1)

static int spans_add_event(ex_spans *s, int64_t start_ns, int64_t dur, uint32_t id)
{
    trace_track *k = &s->track;
    size_t n = k->count;
    VP_TRY(trace_times_reserve(&k->own, n, n + 1));
    if (!n)
        k->sorted = true;
    else if (start_ns < trace_start(k, n - 1) ||
             (start_ns == trace_start(k, n - 1) && dur > trace_dur(k, n - 1)))
        k->sorted = false;
    VP_TRY(trace_times_put(&k->own, n, start_ns, dur, id));
    k->count = n + 1;
    return 0;
}

int ex_spans_add(ex_spans *s, int64_t start_ns, int64_t end_ns, uint32_t id)
{
    return spans_add_event(s, start_ns, end_ns - start_ns, id);
}

int ex_spans_add_late(ex_spans *s, int64_t start_ns, int64_t end_ns, uint32_t id)
{
    size_t n = s->late_count;
    VP_TRY(vp_grow(&s->late_end, &s->late_cap[0], n + 1, sizeof *s->late_end, VP_EVENTS_MAX));
    VP_TRY(vp_grow(&s->late_id, &s->late_cap[1], n + 1, sizeof *s->late_id, VP_EVENTS_MAX));
    s->late_end[n] = end_ns;
    s->late_id[n] = id;
    s->late_count++;
    return spans_add_event(s, start_ns, LATE, id);
}

static int by_u32_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int64_t late_end(const ex_spans *s, uint32_t id)
{
    const uint32_t *at = bsearch(&id, s->late_id, s->late_count, sizeof id, by_u32_value);
    return s->late_end[at - s->late_id];
}

int64_t ex_spans_end(const ex_spans *s, size_t i)
{
    int64_t dur = trace_dur(&s->track, i);
    return dur == LATE ? late_end(s, trace_kind_of(&s->track, i)) : trace_start(&s->track, i) + dur;
}

/* True if the lane can take a span: it is inside the innermost open slice. A span without a length
 * at the end of a slice is after it. */
static bool lane_takes_span(ex_lane *l, int64_t start_ns, int64_t end_ns)
{
    while (l->depth && l->ends[l->depth - 1] <= start_ns)
        l->depth--;
    return l->depth < EX_LANE_DEPTH && (!l->depth || end_ns <= l->ends[l->depth - 1]);
}

int ex_lanes_take(ex_lanes *l, int64_t start_ns, int64_t end_ns)
{
    uint32_t i = 0;
    while (i < EX_LANES_MAX && !lane_takes_span(&l->lane[i], start_ns, end_ns))
        i++;
    if (i == EX_LANES_MAX)
        return (int)EX_LANE_ASYNC;
    ex_lane *to = &l->lane[i];
    VP_TRY(vp_grow(&to->ends, &to->cap, to->depth + 1, sizeof *to->ends, EX_LANE_DEPTH));
    to->ends[to->depth++] = end_ns;
    l->used = l->used > i + 1 ? l->used : i + 1;
    return (int)i;
}

void ex_lanes_free(ex_lanes *l)
{
    for (uint32_t i = 0; i < EX_LANES_MAX; i++)
        vp_free(l->lane[i].ends);
    *l = (ex_lanes){0};
}

static int moves_add(ex_moves *m, uint32_t id, uint32_t lane)
{
    VP_TRY(vp_grow(&m->list, &m->cap, m->count + 1, sizeof *m->list, VP_EVENTS_MAX));
    m->list[m->count++] = (ex_move){id, lane};
    return 0;
}

static int assign_span_lanes(ex_spans *s, ex_moves *moves, ex_lanes *lanes)
{
    trace_track *k = &s->track;
    if (!k->sorted && k->count)
        VP_TRY(trace_sort_track(k, 1));
    for (size_t i = 0; i < k->count; i++) {
        int lane = ex_lanes_take(lanes, trace_start(k, i), ex_spans_end(s, i));
        VP_TRY(lane);
        if (lane)
            VP_TRY(moves_add(moves, trace_kind_of(k, i), (uint32_t)lane));
    }
    return 0;
}

int ex_spans_place(ex_spans *s, ex_moves *moves, uint32_t *lanes_used)
{
    ex_lanes lanes = {0};
    int rc = assign_span_lanes(s, moves, &lanes);
    if (lanes_used)
        *lanes_used = lanes.used;
    ex_lanes_free(&lanes);
    return rc;
}

int ex_spans_lanes(ex_spans *s, ex_moves *moves, uint32_t *lanes_used)
{
    int rc = ex_spans_place(s, moves, lanes_used);
    ex_spans_free(s);
    return rc;
}

void ex_spans_free(ex_spans *s)
{
    trace_times_free(&s->track.own);
    vp_free(s->late_end);
    vp_free(s->late_id);
    *s = (ex_spans){0};
}

static int by_move_id(const void *a, const void *b)
{
    const ex_move *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

void ex_moves_sort(ex_moves *m)
{
    if (m->count)
        qsort(m->list, m->count, sizeof *m->list, by_move_id);
}
