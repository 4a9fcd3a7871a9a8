/* Which spans of one thread may lie on one track of a viewer that stacks them. Perfetto drops (v52)
 * or counts as an error (v58) a slice that begins inside another and ends behind it, and one that
 * lies more than 512 deep (docs/reference/perfetto.md#stacking). So what fits stays on the thread's
 * own track, lane 0, and the rest goes to sibling tracks, lanes 1, 2, …; what no lane takes is to
 * be drawn as async slices, which may overlap at will. All writers of export/ include this; they
 * own the spans, at 16 bytes each. */
#ifndef VP_EXPORT_LANES_H
#define VP_EXPORT_LANES_H

#include "trace/model/trace.h"

/* More siblings than this show nothing to anybody. */
#define EX_LANES_MAX 32u
#define EX_LANE_ASYNC EX_LANES_MAX
/* Slices below one another on one track; Perfetto's limit is 512. */
#define EX_LANE_DEPTH 500u

/* The spans of a thread in any order; zeroed before the first. */
typedef struct ex_spans {
    trace_track track; /* its columns in ns; `kind` is the caller's number of a span */
    int64_t *late_end; /* of `late` spans: sorted behind all others that start with them */
    uint32_t *late_id; /* ascending */
    size_t late_count, late_cap[2];
} ex_spans;

/* A span that lane 0 cannot take. */
typedef struct ex_move {
    uint32_t id, lane; /* 1 … EX_LANES_MAX - 1, or EX_LANE_ASYNC */
} ex_move;

typedef struct ex_moves {
    ex_move *list; /* by ascending id once ex_moves_sort was called */
    size_t count, cap;
} ex_moves;

/* Half-open, in ns, end ≥ start; an id is given once. Of spans that start together the longest is
 * the outermost. VP_ENOMEM, VP_ELIMIT. */
int ex_spans_add(ex_spans *s, int64_t start_ns, int64_t end_ns, uint32_t id);
/* A span that Perfetto sorts behind those that start with it, whatever their length: its begin and
 * end are events of their own. Ids ascend. */
int ex_spans_add_late(ex_spans *s, int64_t start_ns, int64_t end_ns, uint32_t id);
/* Sorts the spans by start and appends those that are not of lane 0 to *moves. lanes_used: lanes
 * with a span, EX_LANE_ASYNC not counted; may be NULL. */
int ex_spans_place(ex_spans *s, ex_moves *moves, uint32_t *lanes_used);
/* The same, and frees the spans, also on failure. */
int ex_spans_lanes(ex_spans *s, ex_moves *moves, uint32_t *lanes_used);
void ex_spans_free(ex_spans *s);
/* Where span i of s->track.count ends. */
int64_t ex_spans_end(const ex_spans *s, size_t i);

void ex_moves_sort(ex_moves *m);

/* The tracks that hold slices now, while spans come in the order of their start; for writers that
 * see them in that order. Zeroed before the first. */
typedef struct ex_lane {
    int64_t *ends; /* of the open slices, outermost first */
    size_t depth, cap;
} ex_lane;

typedef struct ex_lanes {
    ex_lane lane[EX_LANES_MAX];
    uint32_t used;
} ex_lanes;

/* The first lane that takes a span; EX_LANE_ASYNC where none does; VP_ENOMEM. */
int ex_lanes_take(ex_lanes *l, int64_t start_ns, int64_t end_ns);
void ex_lanes_free(ex_lanes *l);

#endif
