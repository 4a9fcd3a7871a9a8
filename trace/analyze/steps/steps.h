/* Steps of a host, and the ops and modules in them (docs/reference/metrics.md#steps). Rows go into
 * the host's result. */
#ifndef VP_ANALYZE_STEPS_H
#define VP_ANALYZE_STEPS_H

#include "trace/analyze/result/analysis.h"

/* Fills h->steps, the figures of ops and modules in them, and the windows of the analysis. */
int steps_collect(analysis *a);

#endif
