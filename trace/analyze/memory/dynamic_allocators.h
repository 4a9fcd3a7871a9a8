/* Memory as the allocators' events tell it: in use, reserved, free; the peak and who holds it; what
 * steps take and leave (docs/reference/memory-and-mfu.md#allocator-events). */
#ifndef VP_ANALYZE_DYNAMIC_ALLOCATORS_H
#define VP_ANALYZE_DYNAMIC_ALLOCATORS_H

#include "trace/analyze/result/analysis.h"

/* Fills h->memory; after steps_collect and static_collect. */
int memory_collect(analysis *a);

#endif
