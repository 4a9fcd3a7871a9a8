/* Analyzes the sealed trace of one host. It reads no files. The caller frees the result; failures
 * are out of memory and cancellation.
 *
 * Each analysis is one file and one pass, and adds its part to a host_result. Several run at once,
 * one thread each. */
#ifndef VP_ANALYZE_HOST_ANALYSIS_H
#define VP_ANALYZE_HOST_ANALYSIS_H

#include "trace/analyze/result/analysis.h"

/* The time in the trace that is 0 in the report. */
int64_t host_origin_ps(const trace *t);

/* Fills h, which must be initialized by host_result_init. */
int host_analyze(host_result *h, const trace *t, vp_group by, vp_depth depth);

/* The same with callbacks. Without a `done` callback, steps have their devices only after
 * host_unpack_steps, which does not need the trace. */
int host_analyze_with(host_result *h, const trace *t, vp_group by, vp_depth depth,
                      host_watch watch);

#endif
