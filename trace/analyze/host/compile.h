/* What was compiled while the program ran. */
#ifndef VP_ANALYZE_COMPILE_H
#define VP_ANALYZE_COMPILE_H

#include "trace/analyze/result/analysis.h"

/* Fills h->compile. */
int compile_collect(analysis *a);

#endif
