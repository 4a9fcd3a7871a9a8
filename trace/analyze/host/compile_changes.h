/* Differences between the compiled variants of one function: shapes and dtypes of their parameters,
 * from the programs in the file (docs/reference/findings.md#f10-recompile). */
#ifndef VP_ANALYZE_COMPILE_CHANGES_H
#define VP_ANALYZE_COMPILE_CHANGES_H

#include "trace/analyze/result/analysis.h"

/* "tok is s32[64,L] with L = 45, 46, 47", or that all shapes and dtypes are equal. *out is
 * untouched if the file has fewer than two programs of this function. VP_ENOMEM. */
int compile_changes_find(const char **out, analysis *a, vp_str function);

#endif
