/* Splits a device's window into compute, exposed communication, exposed copies and idle time
 * (docs/reference/metrics.md#breakdown). Values go into the result. */
#ifndef VP_ANALYZE_BREAKDOWN_H
#define VP_ANALYZE_BREAKDOWN_H

#include "trace/analyze/result/analysis.h"

/* Computes the breakdown and the window [*start, *end) of a set of tracks from unions of intervals
 * (docs/reference/metrics.md#breakdown). class_of is by kind. All zero without events. */
int bd_compute(vp_breakdown *out, int64_t *start, int64_t *end, track_set set,
               const uint8_t *class_of);

#endif
