/* One pass over a device's op tracks in order of time. Analyses that need to know what ran when are
 * visitors of it: breakdowns of devices and steps, gaps, exposed and in-flight times. Times are on
 * the device clock if there is one. Visitors own their state; a visitor that fails stops the pass.
 */
#ifndef VP_ANALYZE_SWEEP_H
#define VP_ANALYZE_SWEEP_H

#include "trace/analyze/result/analysis.h"

/* An event of a set: track is an index into trace.tracks. */
typedef struct sweep_event {
    uint32_t track;
    size_t index;
} sweep_event;

#define SWEEP_COVER(class) (1u << (class))

/* [start, end), in which the same classes run throughout. cover: their SWEEP_COVER bits; 0 is a
 * gap. Segments are disjoint, in order and without holes from the first op's start to the last op's
 * end; neighbours may have equal cover. before: the event that ended last up to start (of several
 * any one; index SIZE_MAX before the first). next: for a gap, the event that starts at its end. */
typedef struct sweep_segment {
    int64_t start, end;
    unsigned cover;
    sweep_event before, next;
} sweep_segment;

typedef int sweep_fn(void *ctx, const sweep_segment *s);

/* Calls fn for every event of the set, those of no length too, by start. */
typedef int sweep_event_fn(void *ctx, const trace_track *k, sweep_event e);
int sweep_events(track_set set, sweep_event_fn *fn, void *ctx);

/* The class of a kind for sweeps: containers ("while"), which run beside what is in them, have a
 * class of their own. */
#define SWEEP_CONTAINER 3u
uint8_t sweep_class(const trace *t, const trace_kind *k, vp_op_class class);

/* Calls fn for every segment; what it returns below 0 ends the sweep and is passed on. class_of:
 * by kind, as sweep_class has it (grouping_sweep_classes). */
int sweep_run(track_set set, const uint8_t *class_of, sweep_fn *fn, void *ctx);

/* Adds a segment, cut to [from, to), to a breakdown (docs/reference/metrics.md#breakdown).
 * window_ps and idle_ps are left to sweep_close, which computes them so that the four parts sum to
 * the window. */
void sweep_add(vp_breakdown *b, const sweep_segment *s, int64_t from, int64_t to);
void sweep_close(vp_breakdown *b, int64_t window_ps);

/* Calls fn with the breakdown of each of a device's steps, in their order; what it returns below 0
 * ends the sweep and is passed on. */
typedef int sweep_window_fn(void *ctx, const vp_breakdown *b);
int sweep_windows(track_set set, const uint8_t *class_of, const step_windows *windows,
                  sweep_window_fn *fn, void *ctx);

/* Disjoint ascending intervals, a plain value for unions and intersections. */
typedef struct span {
    int64_t start, end;
} span;
typedef struct spans {
    span *v;
    size_t n, cap;
} spans;

void spans_free(spans *s);
int spans_add(spans *s, int64_t start, int64_t end); /* in any order; empty spans are dropped */
/* The same with what lies between it and the last one, if that is at most so long. */
int spans_add_near(spans *s, int64_t start, int64_t end, int64_t apart);
/* Sorts and merges what touches or overlaps. VP_ENOMEM. */
int spans_union(spans *s);
/* *into = the union of two unions. VP_ENOMEM. */
int spans_unite(spans *into, const spans *more);
int64_t spans_length(const spans *s);
/* Of two unions |a ∩ b|. */
int64_t spans_overlap(const spans *a, const spans *b);
/* The first of a union's spans that ends behind t; n: none. It is looked for around the place
 * `near`, in a range that doubles: at once where it is close. */
size_t spans_search(const spans *a, int64_t t, size_t near);
static inline size_t spans_behind(const spans *a, int64_t t, size_t near)
{
    bool here =
        near <= a->n && (near == a->n || a->v[near].end > t) && (!near || a->v[near - 1].end <= t);
    return here ? near : spans_search(a, t, near);
}
/* |[start, end) ∩ a|, which spans_sum adds up from a's span `first` on; and whether t lies in one
 * of a's spans. *near: where to look first, 0 at first, and is moved. */
int64_t spans_sum(const spans *a, int64_t start, int64_t end, size_t first);
static inline int64_t spans_cut(const spans *a, int64_t start, int64_t end, size_t *near)
{
    size_t i = *near = spans_behind(a, start, *near);
    if (i >= a->n || a->v[i].start >= end)
        return 0;
    if (a->v[i].end >= end)
        return end - (a->v[i].start > start ? a->v[i].start : start);
    return spans_sum(a, start, end, i);
}
static inline bool spans_contain(const spans *a, int64_t t, size_t *near)
{
    size_t i = *near = spans_behind(a, t, *near);
    return i < a->n && a->v[i].start <= t;
}

/* When any device of the host works: the union of all their ops, on the aligned clock. */
int sweep_any_busy(spans *out, const analysis *a);

#endif
