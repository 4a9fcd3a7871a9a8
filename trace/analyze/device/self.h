/* Self time: of the events of a track that lie within each other, the innermost owns the time
 * (analysis.md A2). Included by analyze/'s rooms; arrays belong to the caller.
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
    uint64_t crossings;       /* events that outlive the one they start in */
} kind_times;
/* Self time piece by piece: [start, end) in which one event of the track owns the time, `id` being
 * what self_id_fn says of it when it starts, or its index where there is none. Pieces are disjoint
 * and ascending. */
typedef int self_fn(void *ctx, size_t id, int64_t start, int64_t end);
/* Called for every event in turn, also for those without length, which own no time. */
typedef int self_id_fn(void *ctx, size_t index, size_t *id);
int self_pieces(const trace_track *k, self_id_fn *id, self_fn *fn, void *ctx);
/* How the events of one group on one track add up, asked in their order. Calls nest: one inside
 * another of its group is its recursion, and only the outermost counts. Spans run at once
 * (requests, async work): all count. A track holds spans where its reader says so, and those groups
 * are spans of which two cross, by more than the whole us to which formats round. */
typedef struct nesting {
    int64_t end;         /* of the outermost so far; INT64_MIN at first */
    int64_t inner;       /* sum of those inside it, not counted yet; NESTING_SPANS: all count */
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
    int64_t total_ps, inner_ps, inner_calls; /* of the calls that count; of those within them */
} group_times;
/* group_of and totals by group. */
int self_times(kind_times *kt, group_times *totals, track_set set, const uint32_t *group_of,
               uint32_t group_count);

#endif
