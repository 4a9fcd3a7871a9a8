/* Self time: of the events of a track that lie within each other, the innermost owns the time
 * (docs/reference/metrics.md#self-time). Arrays belong to the caller.
 *
 * At every instant the most recently started open event of a track owns the time (ties: the
 * shorter, then file order). For nested events that is duration minus direct children; events that
 * cross, which JAX's Python tracer writes, come out right too, and the self times of a track sum to
 * its busy time exactly. The same rule serves the devices of XLA:CPU, whose ops run at once on one
 * timeline. */
#ifndef VP_ANALYZE_SELF_H
#define VP_ANALYZE_SELF_H

#include "trace/analyze/result/analysis.h"

/* Self time and calls by kind, over the tracks of a set. */
typedef struct kind_times {
    int64_t *self_ps, *calls; /* by kind */
    uint64_t crossings;       /* events that end after the one inside which they start */
} kind_times;
/* Called for each piece of self time: in [start, end) one event of the track owns the time. id is
 * what self_id_fn said when the event began; without that function, the event's index. Pieces are
 * disjoint and ascending. */
typedef int self_fn(void *ctx, size_t id, int64_t start, int64_t end);
/* Called for every event in turn, also for those without length, which own no time. */
typedef int self_id_fn(void *ctx, size_t index, size_t *id);
int self_pieces(const trace_track *k, self_id_fn *id, self_fn *fn, void *ctx);
/* Adds up the events of one group on one track, which are given in their order. Calls nest: one
 * inside another of its group is a recursion, and only the outermost counts. Spans (requests, async
 * work) run at once, and all count. A track holds spans if its reader says so; a group's events are
 * spans if two of them cross by more than the whole us to which formats round. */
typedef struct nesting {
    int64_t end; /* of the outermost event so far; INT64_MIN at first */
    /* time of the events inside it, not counted yet; NESTING_SPANS: these are spans */
    int64_t inner;
    int64_t inner_calls; /* of them */
} nesting;
#define NESTING_SPANS INT64_C(-1)
static inline nesting nesting_begin(bool at_once)
{
    return (nesting){INT64_MIN, at_once ? NESTING_SPANS : 0, 0};
}
/* What the event [start, end) adds to the total. */
int64_t nesting_add(nesting *n, int64_t start, int64_t end);
/* Whether a track is known to hold spans. */
bool nesting_none(const trace *t, const trace_track *k);
typedef struct group_times {
    /* of the calls that count; inner_: of those inside others */
    int64_t total_ps, inner_ps, inner_calls;
} group_times;
/* Adds to kt by kind and to totals by group; group_of is by kind. */
int self_times(kind_times *kt, group_times *totals, track_set set, const uint32_t *group_of,
               uint32_t group_count);

#endif
