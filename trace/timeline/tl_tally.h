/* Sum of the durations of adjacent events of a row, and the longest of them. */
#ifndef VP_TIMELINE_TL_TALLY_H
#define VP_TIMELINE_TL_TALLY_H

#include "trace/timeline/tl_index.h"

typedef struct tl_tally {
    int64_t longest_ps, sum_ps;
    uint64_t longest; /* of the row, the first of equals */
    uint32_t kind;    /* of that one */
} tl_tally;

/* Position after the last tally within a block, and the sum of the rest of that block; usually the
 * next tally begins there. All zero: no position. For one row. */
typedef struct tl_seam {
    uint64_t at;
    tl_tally rest;
} tl_seam;

/* Sums events [i, end), i < end <= r->count. Complete blocks need no access to events; a partial
 * block reads only one side of it. */
tl_tally tl_tally_of(tl_seam *seam, const tl_row *r, uint64_t i, uint64_t end);

#endif
