/* Calls of a device that take longer while something else uses the same cores and memory, by the
 * medians of the calls at these times and of the others. */
#ifndef VP_ANALYZE_SLOWED_CALLS_H
#define VP_ANALYZE_SLOWED_CALLS_H

#include "trace/analyze/device/sweep.h"

typedef struct slowed_row {
    int64_t median_ps; /* of the calls at these times */
    int64_t longer_ps; /* that median minus the median of the others */
    int64_t calls;     /* at these times; 0: too few calls at these times or at others */
} slowed_row;

/* Which calls are compared with each other. */
typedef struct slowed_groups {
    const uint32_t *row_of; /* by kind; VP_MAP_NONE: left out */
    size_t rows;
    bool innermost; /* only calls that contain no other op */
} slowed_groups;

/* Sets out[row] for each row. during: these times, a union, aligned. O(calls). VP_ENOMEM. */
int slowed_calls_compare(slowed_row *out, track_set set, const slowed_groups *g,
                         const spans *during);

#endif
