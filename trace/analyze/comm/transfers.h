/* Copies between host and devices and between devices, as rows of the host's result. Fails only if
 * out of memory. */
#ifndef VP_ANALYZE_TRANSFERS_H
#define VP_ANALYZE_TRANSFERS_H

#include "trace/analyze/result/analysis.h"

/* Fills h->transfers. */
int transfers_collect(analysis *a);

#endif
