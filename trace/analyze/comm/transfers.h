/* Copies between host and devices, and among devices. Included by host_analysis.c. */
#ifndef VP_ANALYZE_TRANSFERS_H
#define VP_ANALYZE_TRANSFERS_H

#include "trace/analyze/result/analysis.h"

/* Fills h->transfers. */
int transfers_collect(analysis *a);

#endif
