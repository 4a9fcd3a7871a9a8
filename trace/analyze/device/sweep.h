/* One pass over a device's op tracks in order of time. Analyses of concurrent ops are visitors of
 * it: breakdowns of devices and steps, gaps, exposed and in-flight times. Times are on the device
 * clock if there is one. Visitors own their state; a visitor that fails stops the pass. */
#ifndef VP_ANALYZE_SWEEP_H
#define VP_ANALYZE_SWEEP_H

#include "trace/analyze/result/analysis.h"

/* An event of a set: track is an index into trace.tracks. */
typedef struct sweep_event {
    uint32_t track;
    size_t index;
} sweep_event;

#define SWEEP_COVER(class) (1u << (class))

/* [start, end), in which the same classes run. cover: their SWEEP_COVER bits; 0 is a gap. Segments
 * are disjoint, ordered and contiguous from the first op's start to the last op's end; adjacent
 * ones may have equal cover. before: the event with the latest end up to start (ties: any; index
 * SIZE_MAX before the first). next: for a gap, the event that starts at its end. */
typedef struct sweep_segment {
    int64_t start, end;
    unsigned cover;
    sweep_event before, next;
} sweep_segment;

typedef int sweep_fn(void *ctx, const sweep_segment *s);

/* Calls fn for every event of the set by start, including those without duration. */
typedef int sweep_event_fn(void *ctx, const trace_track *k, sweep_event e);
int sweep_events(track_set set, sweep_event_fn *fn, void *ctx);

/* The class of a kind for sweeps. Containers ("while"), which run concurrently with their contents,
 * have a separate class. */
#define SWEEP_CONTAINER 3u
uint8_t sweep_class(const trace *t, const trace_kind *k, vp_op_class class);

/* Calls fn for every segment; a negative result ends the sweep and is returned. class_of: by kind,
 * by sweep_class (grouping_sweep_classes). */
int sweep_run(track_set set, const uint8_t *class_of, sweep_fn *fn, void *ctx);

/* Adds a segment, cut to [from, to), to a breakdown (docs/reference/metrics.md#breakdown).
 * sweep_close sets window_ps and idle_ps so that the four parts add up to the window. */
void sweep_add(vp_breakdown *b, const sweep_segment *s, int64_t from, int64_t to);
void sweep_close(vp_breakdown *b, int64_t window_ps);

/* Calls fn with the breakdown of each of a device's steps, in order; a negative result ends the
 * sweep and is returned. */
typedef int sweep_window_fn(void *ctx, const vp_breakdown *b);
int sweep_windows(track_set set, const uint8_t *class_of, const step_windows *windows,
                  sweep_window_fn *fn, void *ctx);

/* Disjoint ascending intervals, as a value for unions and intersections. */
typedef struct span {
    int64_t start, end;
} span;
typedef struct spans {
    span *v;
    size_t n, cap;
} spans;

void spans_free(spans *s);
int spans_add(spans *s, int64_t start, int64_t end); /* in any order; empty spans are ignored */
/* The same; also fills the space since the last span if it is at most this long. */
int spans_add_near(spans *s, int64_t start, int64_t end, int64_t apart);
/* Sorts and merges spans that touch or overlap. VP_ENOMEM. */
int spans_union(spans *s);
/* *into = the union of two unions. VP_ENOMEM. */
int spans_unite(spans *into, const spans *more);
int64_t spans_length(const spans *s);
/* |a ∩ b| of two unions. */
int64_t spans_overlap(const spans *a, const spans *b);
/* The first span of a union that ends after t; n: none. The search starts at `near` and doubles its
 * range, so it is fast for close spans. */
size_t spans_search(const spans *a, int64_t t, size_t near);
static inline size_t spans_behind(const spans *a, int64_t t, size_t near)
{
    bool here =
        near <= a->n && (near == a->n || a->v[near].end > t) && (!near || a->v[near - 1].end <= t);
    return here ? near : spans_search(a, t, near);
}
/* |[start, end) ∩ a|, where spans_sum adds from a's span `first` on; and whether t is in one of a's
 * spans. *near: the start of the search, initially 0, which is updated. */
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

/* The times at which any device of the host is busy: the union of all their ops, on the aligned
 * clock. */
int sweep_any_busy(spans *out, const analysis *a);

#endif
