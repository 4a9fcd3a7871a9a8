/* Collectives: their time, bytes and partners. */
#ifndef VP_ANALYZE_COLLECTIVES_H
#define VP_ANALYZE_COLLECTIVES_H

#include "trace/analyze/result/analysis.h"

/* Fills h->collectives. */
int collectives_collect(analysis *a);

#endif
