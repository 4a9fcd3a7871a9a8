/* Self time: of the nested events of a track, the innermost owns the time
 * (docs/reference/metrics.md#self-time). Arrays belong to the caller.
 *
 * At any time, the most recently started open event of a track owns the time (ties: the shorter,
 * then file order). For nested events that is the duration minus direct children. Overlapping
 * events, which JAX's Python tracer writes, are also handled, and the self times of a track always
 * add up to its busy time. The same rule applies to the devices of XLA:CPU, whose ops run
 * concurrently on one timeline. */
#ifndef VP_ANALYZE_SELF_H
#define VP_ANALYZE_SELF_H

#include "trace/analyze/result/analysis.h"

/* Self time and calls by kind, over the tracks of a set. */
typedef struct kind_times {
    int64_t *self_ps, *calls; /* by kind */
    uint64_t crossings;       /* events that end after the event in which they start */
} kind_times;
/* Called for each piece of self time: in [start, end) one event of the track owns the time. id is
 * the result of self_id_fn at the begin of the event, or without that function the event's index.
 * Pieces are disjoint and ascending. */
typedef int self_fn(void *ctx, size_t id, int64_t start, int64_t end);
/* Called for every event in order, including those without duration, which own no time. */
typedef int self_id_fn(void *ctx, size_t index, size_t *id);
int self_pieces(const trace_track *k, self_id_fn *id, self_fn *fn, void *ctx);
/* Adds up the events of one group on one track, which are passed in order. An event inside another
 * of its group is a recursive call, and only the outermost counts. Spans (requests, async work) run
 * concurrently, and all count. A track contains spans if its reader marks it; a group's events are
 * spans if two of them overlap by more than the whole us to which formats round. */
typedef struct nesting {
    int64_t end; /* of the outermost event so far; initially INT64_MIN */
    /* time of the events inside it, not counted yet; NESTING_SPANS: the events are spans */
    int64_t inner;
    int64_t inner_calls; /* of them */
} nesting;
#define NESTING_SPANS INT64_C(-1)
static inline nesting nesting_begin(bool at_once)
{
    return (nesting){INT64_MIN, at_once ? NESTING_SPANS : 0, 0};
}
/* Returns the time that the event [start, end) adds to the total. */
int64_t nesting_add(nesting *n, int64_t start, int64_t end);
/* Returns whether a track is marked as containing spans. */
bool nesting_none(const trace *t, const trace_track *k);
typedef struct group_times {
    /* of the calls that count; inner_: of nested ones */
    int64_t total_ps, inner_ps, inner_calls;
} group_times;
/* Adds to kt by kind and to totals by group; group_of is by kind. */
int self_times(kind_times *kt, group_times *totals, track_set set, const uint32_t *group_of,
               uint32_t group_count);

#endif
