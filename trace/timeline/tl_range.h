/* Sums the events in a range of time by kind, for the panel of a selected range. It counts every
 * visible event on any track; a report counts only ops, by device. The caller frees the sums. */
#ifndef VP_TIMELINE_TL_RANGE_H
#define VP_TIMELINE_TL_RANGE_H

#include "trace/timeline/tl_index.h"

typedef struct tl_sum_of_kind {
    uint32_t kind;
    uint64_t calls;
    int64_t total_ps; /* cut to the range, including nested events */
    int64_t self_ps;  /* without directly nested events */
} tl_sum_of_kind;

typedef struct tl_range {
    tl_sum_of_kind *kinds; /* by self time, then by kind; only kinds with calls */
    size_t count;
    uint64_t events;
    int64_t busy_ps;    /* Σ of the tracks' outermost rows, cut to the range */
    int64_t covered_ps; /* Σ over tracks of the time that their events cover in the range */
    uint32_t tracks;    /* tracks with any events, also outside of the range */
} tl_range;

/* Sums the events of these tracks (indices below x->track_count) in [from_ps, until_ps). VP_ENOMEM.
 */
int tl_range_of(tl_range *out, const tl_index *x, const uint32_t *tracks, size_t count,
                int64_t from_ps, int64_t until_ps);
void tl_range_free(tl_range *r);

#endif
