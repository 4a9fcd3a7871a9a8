/* Analyzes the sealed trace of one host. It reads no files. The caller frees the result; failures
 * are out of memory and cancellation.
 *
 * Each analysis is one file and one pass, and adds its part to a host_result. Several run at once,
 * one thread each. */
#ifndef VP_ANALYZE_HOST_ANALYSIS_H
#define VP_ANALYZE_HOST_ANALYSIS_H

#include "trace/analyze/result/analysis.h"

/* Where the report's time 0 lies in the trace. */
int64_t host_origin_ps(const trace *t);

/* Fills h, which host_result_init made. */
int host_analyze(host_result *h, const trace *t, vp_group by, vp_depth depth);

/* The same while somebody looks on. Where nobody waits for its end, steps have their devices only
 * after host_unpack_steps, for which the trace may be gone. */
int host_analyze_with(host_result *h, const trace *t, vp_group by, vp_depth depth,
                      host_watch watch);

#endif
