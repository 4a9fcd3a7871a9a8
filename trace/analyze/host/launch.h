/* Launches of device ops by the host. Included by host_analysis.c. */
#ifndef VP_ANALYZE_LAUNCH_H
#define VP_ANALYZE_LAUNCH_H

#include "trace/analyze/result/analysis.h"

/* A kernel below this is short: launching it takes about as long. */
#define LAUNCH_SHORT_US 10

/* Sets the launch figures of each device: latency, queue depth, overhead. */
int launch_collect(analysis *a);

#endif
