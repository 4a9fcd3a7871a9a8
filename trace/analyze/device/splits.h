/* Distinct ops within a large group: on TPU, "fusion" is many ops, so its mean and its sum are not
 * useful (docs/reference/metrics.md#mixed-groups). Rows are in the arena of the result. */
#ifndef VP_ANALYZE_SPLITS_H
#define VP_ANALYZE_SPLITS_H

#include "trace/analyze/result/analysis.h"

/* Fills the splits of a device's ops that have at least 5% of its self time: their largest parts by
 * shape; if there is at most one shape by scope, else by source. Parts of one shape whose calls
 * vary in duration (CV > 0.5) are split by layout and memory space if these explain most of the
 * variation. Groups with one part have no splits. op_of_group: ops_by_group's, of the device. */
int splits_of_device(analysis *a, uint32_t device, const uint32_t *op_of_group);

#endif
