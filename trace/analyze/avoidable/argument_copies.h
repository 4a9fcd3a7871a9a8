/* Ops of CPU devices that copies of arguments slow down, while both use the same memory
 * (docs/reference/metrics.md#avoidable-work). */
#ifndef VP_ANALYZE_ARGUMENT_COPIES_H
#define VP_ANALYZE_ARGUMENT_COPIES_H

#include "trace/analyze/result/analysis.h"

/* Adds to copy_slowed_ps of a device's ops. is_copy: by kind, whether it is a copy of an argument;
 * op_of: by group, the op of h->ops; row_of: scratch by kind, VP_MAP_NONE before and after.
 * VP_ENOMEM. */
int argument_copies_slow(analysis *a, uint32_t device, const uint8_t *is_copy, uint32_t *row_of,
                         const uint32_t *op_of);

#endif
