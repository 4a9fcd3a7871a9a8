/* What the program says of itself: arguments, counters and facts. Included by host_analysis.c. */
#ifndef VP_ANALYZE_PROGRAM_VALUES_H
#define VP_ANALYZE_PROGRAM_VALUES_H

#include "trace/analyze/result/analysis.h"

/* Fills h->args, h->counters and h->meta. */
int args_collect(analysis *a);

#endif
