/* Launches of device ops by the host: counts, delays and queue lengths per device, in the result.
 */
#ifndef VP_ANALYZE_LAUNCH_H
#define VP_ANALYZE_LAUNCH_H

#include "trace/analyze/result/analysis.h"

/* In us. A shorter kernel takes about as long as its launch (docs/reference/metrics.md#launches).
 */
#define LAUNCH_SHORT_US 10

/* Sets the launch figures of each device: latency, queue depth, overhead. gaps_collect adds the
 * starved time. */
int launch_collect(analysis *a);

#endif
