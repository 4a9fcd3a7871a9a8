/* Decides which spans of a thread can be on the same track of a viewer that stacks them. Perfetto
 * drops (v52) or counts as an error (v58) a slice that begins inside another and ends after it, and
 * one that is more than 512 deep (docs/reference/perfetto.md#stacking). Spans that fit stay on the
 * thread's own track, lane 0; the others are on sibling tracks, lanes 1, 2, …. Spans that fit no
 * lane become async slices, which may overlap. Used by all writers of export/, which own the spans,
 * 16 bytes each. */
#ifndef VP_EXPORT_LANES_H
#define VP_EXPORT_LANES_H

#include "trace/model/trace.h"

/* Maximum number of siblings; more would not be readable. */
#define EX_LANES_MAX 32u
#define EX_LANE_ASYNC EX_LANES_MAX
/* Maximum depth on one track; Perfetto's limit is 512. */
#define EX_LANE_DEPTH 500u

/* The spans of a thread in any order; zero-initialize. */
typedef struct ex_spans {
    trace_track track; /* columns in ns; `kind` is the caller's id of a span */
    int64_t *late_end; /* ids of `late` spans: sorted after all others with the same start */
    uint32_t *late_id; /* ascending */
    size_t late_count, late_cap[2];
} ex_spans;

/* A span that does not fit lane 0. */
typedef struct ex_move {
    uint32_t id, lane; /* 1 … EX_LANES_MAX - 1, or EX_LANE_ASYNC */
} ex_move;

typedef struct ex_moves {
    ex_move *list; /* ascending by id after ex_moves_sort */
    size_t count, cap;
} ex_moves;

/* Adds a half-open span in ns, end ≥ start; ids are unique. Among spans with the same start the
 * longest is the outermost. VP_ENOMEM, VP_ELIMIT. */
int ex_spans_add(ex_spans *s, int64_t start_ns, int64_t end_ns, uint32_t id);
/* Adds a span that Perfetto sorts after those with the same start, regardless of length, because
 * its begin and end are separate events. Ids ascend. */
int ex_spans_add_late(ex_spans *s, int64_t start_ns, int64_t end_ns, uint32_t id);
/* Sorts the spans by start and appends those outside of lane 0 to *moves. lanes_used: number of
 * lanes with a span, without EX_LANE_ASYNC; may be NULL. */
int ex_spans_place(ex_spans *s, ex_moves *moves, uint32_t *lanes_used);
/* The same; also frees the spans, even on failure. */
int ex_spans_lanes(ex_spans *s, ex_moves *moves, uint32_t *lanes_used);
void ex_spans_free(ex_spans *s);
/* The end of span i of s->track.count. */
int64_t ex_spans_end(const ex_spans *s, size_t i);

void ex_moves_sort(ex_moves *m);

/* The open slices by track, for writers that see spans in the order of their start.
 * Zero-initialize. */
typedef struct ex_lane {
    int64_t *ends; /* ends of the open slices, outermost first */
    size_t depth, cap;
} ex_lane;

typedef struct ex_lanes {
    ex_lane lane[EX_LANES_MAX];
    uint32_t used;
} ex_lanes;

/* Returns the first lane for a span; EX_LANE_ASYNC if none fits; VP_ENOMEM. */
int ex_lanes_take(ex_lanes *l, int64_t start_ns, int64_t end_ns);
void ex_lanes_free(ex_lanes *l);

#endif
