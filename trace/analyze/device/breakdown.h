/* The four parts of a device's window: compute, exposed communication, exposed copies, idle
 * (analysis.md A1). */
#ifndef VP_ANALYZE_BREAKDOWN_H
#define VP_ANALYZE_BREAKDOWN_H

#include "trace/analyze/result/analysis.h"

/* The breakdown and the window of a set of tracks (analysis.md A1), from unions of intervals:
 * compute = |C|, exposed communication = |M \ C|, exposed copies = |X \ (C ∪ M)|, idle = the rest
 * of the window [*start, *end). class_of is by kind. All zero without events. */
int bd_compute(vp_breakdown *out, int64_t *start, int64_t *end, track_set set,
               const uint8_t *class_of);

#endif
