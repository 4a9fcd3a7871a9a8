/* Waits of TPUs for each other at barriers, from the trace into the host's result. Fails only if
 * out of memory. */
#ifndef VP_ANALYZE_BARRIERS_H
#define VP_ANALYZE_BARRIERS_H

#include "trace/analyze/result/analysis.h"

/* Sets the barrier waits of each device. */
int barriers_collect(analysis *a);

#endif
