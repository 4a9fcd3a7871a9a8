/* Programs of a trace, each parsed on first use and kept until the host is analyzed. The analysis
 * owns them. */
#ifndef VP_ANALYZE_PROGRAMS_H
#define VP_ANALYZE_PROGRAMS_H

#include "trace/analyze/result/analysis.h"
#include "trace/read/hlo/hlo_program.h"

/* The program of a->t->programs[i]. *out is NULL where its proto is damaged or beyond a limit,
 * which quality then says, as it says where only the memory plan is. 0 or VP_ENOMEM. */
int programs_get(const hlo_program **out, analysis *a, uint32_t i);
/* Frees all of them; the analysis's end. */
void programs_free(analysis *a);

#endif
