/* MFU breakdown of each device and step, its parts by op and scope, and their costs
 * (docs/reference/memory-and-mfu.md#waterfall). Requires ops, scopes and steps. Values go into the
 * result. */
#ifndef VP_ANALYZE_MFU_H
#define VP_ANALYZE_MFU_H

#include "trace/analyze/result/analysis.h"

int mfu_collect(analysis *a);

#endif
