/* Programs of a trace, each parsed on first use and kept until the host is analyzed. The analysis
 * owns them. */
#ifndef VP_ANALYZE_PROGRAMS_H
#define VP_ANALYZE_PROGRAMS_H

#include "trace/analyze/result/analysis.h"
#include "trace/read/hlo/hlo_program.h"

/* The program of a->t->programs[i]. *out is NULL if its proto is damaged or beyond a limit. Quality
 * has an entry then, or if only the memory plan is damaged. 0 or VP_ENOMEM. */
int programs_get(const hlo_program **out, analysis *a, uint32_t i);
/* Frees all of them; at the end of the analysis. */
void programs_free(analysis *a);

#endif
