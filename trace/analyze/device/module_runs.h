/* The runs of the compiled modules (XLA's programs) of a host. Included by analyze/'s rooms. */
#ifndef VP_ANALYZE_MODULE_RUNS_H
#define VP_ANALYZE_MODULE_RUNS_H

#include "trace/analyze/device/self.h"

/* Appends to h->modules; kt: over all devices. */
int modules_collect(host_result *h, const trace *t, const kind_times *kt);

#endif
