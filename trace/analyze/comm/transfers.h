/* Copies between host and devices, and among devices. */
#ifndef VP_ANALYZE_TRANSFERS_H
#define VP_ANALYZE_TRANSFERS_H

#include "trace/analyze/result/analysis.h"

/* Fills h->transfers. */
int transfers_collect(analysis *a);

#endif
