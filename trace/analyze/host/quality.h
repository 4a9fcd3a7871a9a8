/* Notes on the data quality of a host's trace. Notes go into the result. Fails only if out of
 * memory. */
#ifndef VP_ANALYZE_QUALITY_H
#define VP_ANALYZE_QUALITY_H

#include "trace/analyze/result/analysis.h"

/* Adds to h->quality; needs launch_collect and mfu_collect before it. */
int quality_collect(analysis *a);

#endif
