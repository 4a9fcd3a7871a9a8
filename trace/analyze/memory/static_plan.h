/* Planned memory of each program in each memory space, from its buffer assignment
 * (docs/reference/memory-and-mfu.md#buffer-assignment): the rows of vp_report.memory_static, and
 * totals over executed programs. Every byte of a peak is attributed to an instruction. Rows are in
 * the host's arena. */
#ifndef VP_ANALYZE_STATIC_PLAN_H
#define VP_ANALYZE_STATIC_PLAN_H

#include "trace/analyze/result/analysis.h"

int static_collect(analysis *a);

#endif
