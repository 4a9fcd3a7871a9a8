/* Sums over the calls of host threads, as rows of the host's result. Fails only if out of memory.
 */
#ifndef VP_ANALYZE_HOST_OPS_H
#define VP_ANALYZE_HOST_OPS_H

#include "trace/analyze/result/analysis.h"

/* Starts counting the calls of the host's threads on another thread. It reads only those parts of
 * the result that the op tables made, and does not write to it. host_ops_end waits for it, and may
 * be called without a start. */
int host_ops_start(analysis *a);
void host_ops_end(analysis *a);
/* Fills h->host_ops with the counts. */
int host_ops_collect(analysis *a);

#endif
