/* What TPUs wait for each other. */
#ifndef VP_ANALYZE_BARRIERS_H
#define VP_ANALYZE_BARRIERS_H

#include "trace/analyze/result/analysis.h"

/* Sets the barrier waits of each device. */
int barriers_collect(analysis *a);

#endif
