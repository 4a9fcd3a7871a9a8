/* Collectives of a host: time, bytes, exposed time and participants. Rows go into the host's
 * result. Fails only if out of memory. */
#ifndef VP_ANALYZE_COLLECTIVES_H
#define VP_ANALYZE_COLLECTIVES_H

#include "trace/analyze/result/analysis.h"

/* Fills h->collectives. */
int collectives_collect(analysis *a);

#endif
