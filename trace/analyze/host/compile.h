/* Compilations while the program ran, as rows of the host's result. Fails only if out of memory. */
#ifndef VP_ANALYZE_COMPILE_H
#define VP_ANALYZE_COMPILE_H

#include "trace/analyze/result/analysis.h"

/* Fills h->compile. */
int compile_collect(analysis *a);

#endif
