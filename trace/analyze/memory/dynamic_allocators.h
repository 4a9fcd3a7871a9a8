/* Memory from allocator events: used, reserved and free memory, the peak and its holders, and
 * memory not freed after steps (docs/reference/memory-and-mfu.md#allocator-events). Rows go into
 * the host's result. */
#ifndef VP_ANALYZE_DYNAMIC_ALLOCATORS_H
#define VP_ANALYZE_DYNAMIC_ALLOCATORS_H

#include "trace/analyze/result/analysis.h"

/* Fills h->memory; call it after steps_collect and static_collect. */
int memory_collect(analysis *a);

#endif
