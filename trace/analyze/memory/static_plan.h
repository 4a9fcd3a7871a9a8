/* What each program of a trace takes of each memory space, as its buffer assignment plans it
 * (docs/reference/memory-and-mfu.md#buffer-assignment): the rows of vp_report.memory_static, and
 * what all that ran take together. Every byte of a peak is attributed to an instruction. */
#ifndef VP_ANALYZE_STATIC_PLAN_H
#define VP_ANALYZE_STATIC_PLAN_H

#include "trace/analyze/result/analysis.h"

int static_collect(analysis *a);

#endif
