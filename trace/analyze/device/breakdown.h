/* The four parts of a device's window: compute, exposed communication, exposed copies, idle
 * (docs/reference/metrics.md#breakdown). */
#ifndef VP_ANALYZE_BREAKDOWN_H
#define VP_ANALYZE_BREAKDOWN_H

#include "trace/analyze/result/analysis.h"

/* The breakdown and the window [*start, *end) of a set of tracks, from unions of intervals
 * (docs/reference/metrics.md#breakdown). class_of is by kind. All zero without events. */
int bd_compute(vp_breakdown *out, int64_t *start, int64_t *end, track_set set,
               const uint8_t *class_of);

#endif
