/* Instructions of one computation that do the same work on different data, and don't depend on each
 * other: one batched op could replace them (docs/reference/metrics.md#avoidable-work). */
#ifndef VP_ANALYZE_HLO_BATCHES_H
#define VP_ANALYZE_HLO_BATCHES_H

#include "trace/analyze/avoidable/hlo_values.h"

/* *out: by instruction, how many equal ones there are, itself included; 0: it is no op. Two with
 * equally many products on their longest paths don't depend on each other's products. The caller
 * frees it. VP_ENOMEM. */
int hlo_batches_new(uint32_t **out, const hlo_program *p, const hlo_values *x);

#endif
