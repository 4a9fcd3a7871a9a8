/* How near a device comes to its peak, and where the rest of its time goes: the waterfall of each
 * device and step, what ops and scopes have of it, and what they cost
 * (docs/reference/memory-and-mfu.md#waterfall). Builds on ops, scopes and steps. */
#ifndef VP_ANALYZE_MFU_H
#define VP_ANALYZE_MFU_H

#include "trace/analyze/result/analysis.h"

int mfu_collect(analysis *a);

#endif
