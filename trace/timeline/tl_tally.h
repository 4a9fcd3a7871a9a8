/* Sum of the durations of adjacent events of a row, and the longest of them. */
#ifndef VP_TIMELINE_TL_TALLY_H
#define VP_TIMELINE_TL_TALLY_H

#include "trace/timeline/tl_index.h"

typedef struct tl_tally {
    int64_t longest_ps, sum_ps;
    uint64_t longest; /* of the row, the first of equals */
    uint32_t kind;    /* of that one */
} tl_tally;

/* Where a tally ended inside a block, and what is left of that block: most often the next one
 * begins there. All zero: nowhere. Of one row. */
typedef struct tl_seam {
    uint64_t at;
    tl_tally rest;
} tl_seam;

/* Of events [i, end), i < end <= r->count. A block inside costs no look at its events, one in which
 * the range begins or ends a look at one side's. */
tl_tally tl_tally_of(tl_seam *seam, const tl_row *r, uint64_t i, uint64_t end);

#endif
