/* Sums over the events of each device: window parts, op tables and module runs, before they go into
 * the result. All devices are processed at once, on as many threads as the trace was read with. The
 * caller owns the sums. */
#ifndef VP_ANALYZE_DEVICE_SUMS_H
#define VP_ANALYZE_DEVICE_SUMS_H

#include "trace/analyze/device/module_runs.h"
#include "trace/analyze/device/ops.h"

typedef struct device_sums {
    track_set set;          /* in: its op tracks, at least one */
    vp_breakdown breakdown; /* window of bd_compute */
    int64_t start_ps, end_ps;
    ops_sums *ops;
} device_sums;

/* The number of threads that a trace is large enough for. */
int device_sums_threads(const trace *t);
/* Sums n devices, whose sets are given, and the runs of modules. VP_ENOMEM. */
int device_sums_count(device_sums *v, size_t n, module_runs *modules, const grouping *g,
                      const trace *t);
void device_sums_free(device_sums *v, size_t n);

#endif
