/* Memory as the allocators tell it. Included by host_analysis.c. */
#ifndef VP_ANALYZE_MEMORY_H
#define VP_ANALYZE_MEMORY_H

#include "trace/analyze/result/analysis.h"

/* Fills h->memory. */
int memory_collect(analysis *a);

#endif
