/* The four parts of a device's window: compute, exposed communication, exposed copies, idle
 * (analysis.md A1). Included by analyze/'s rooms. */
#ifndef VP_ANALYZE_BREAKDOWN_H
#define VP_ANALYZE_BREAKDOWN_H

#include "trace/analyze/result/analysis.h"

/* Union-based breakdown and window of a set of tracks; class_of is by kind. Without events all
 * zero. The window is [*start, *end). */
int bd_compute(vp_breakdown *out, int64_t *start, int64_t *end, track_set set,
               const uint8_t *class_of);

#endif
