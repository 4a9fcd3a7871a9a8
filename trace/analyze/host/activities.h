/* Activities of host threads other than the program's own work: compile, wait for or make input,
 * collect garbage, write checkpoints (docs/reference/metrics.md#activities). Rows go into the
 * host's result. */
#ifndef VP_ANALYZE_ACTIVITIES_H
#define VP_ANALYZE_ACTIVITIES_H

#include "trace/analyze/result/analysis.h"

/* Fills h->activities. VP_ENOMEM, VP_ELIMIT. */
int activities_collect(analysis *a);

#endif
