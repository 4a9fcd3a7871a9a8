/* Ops of CPU devices that copies of the host slow down: both use the same cores and memory
 * (docs/reference/metrics.md#transfers). Values go into the devices' hygiene. */
#ifndef VP_ANALYZE_SLOWED_OPS_H
#define VP_ANALYZE_SLOWED_OPS_H

#include "trace/analyze/device/sweep.h"

/* Sets copy_slowed_ps of each device. copies: when the host copies, a union. VP_ENOMEM. */
int slowed_ops_collect(analysis *a, const spans *copies);

#endif
