/* Sums the events in a range of time by kind, for the panel of a selected range. It counts every
 * visible event on any track; a report counts only ops, by device. The caller frees the sums. */
#ifndef VP_TIMELINE_TL_RANGE_H
#define VP_TIMELINE_TL_RANGE_H

#include "trace/timeline/tl_index.h"

typedef struct tl_sum_of_kind {
    uint32_t kind;
    uint64_t calls;
    int64_t total_ps; /* cut to the range, with what lies inside */
    int64_t self_ps;  /* without what lies directly inside */
} tl_sum_of_kind;

typedef struct tl_range {
    tl_sum_of_kind *kinds; /* by self time, then by kind; those with calls */
    size_t count;
    uint64_t events;
    int64_t busy_ps;    /* Σ of the tracks' outermost rows, cut to the range */
    int64_t covered_ps; /* Σ of how much of the range each track's events cover, once */
    uint32_t tracks;    /* those that hold any events, in the range or elsewhere */
} tl_range;

/* Of these tracks (below x->track_count), all of [from_ps, until_ps). VP_ENOMEM. */
int tl_range_of(tl_range *out, const tl_index *x, const uint32_t *tracks, size_t count,
                int64_t from_ps, int64_t until_ps);
void tl_range_free(tl_range *r);

#endif
