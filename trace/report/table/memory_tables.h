/* Tables of memory: allocators and memory plans. Ownership: see tbl.h. */
#ifndef VP_REPORT_MEMORY_TABLES_H
#define VP_REPORT_MEMORY_TABLES_H

#include "trace/report/table/tbl.h"

void tbl_memory(tbl *t, const vp_report *r, const vp_view *v);
/* The contents of one peak, as far as the profile records them. */
void tbl_holders(tbl *t, const vp_report *r, const vp_view *v, const vp_memory *m);
/* Memory that is allocated in each step and not freed. */
void tbl_leaks(tbl *t, const vp_report *r, const vp_view *v, const vp_memory *m);

/* One row per program and memory space. */
void tbl_plans(tbl *t, const vp_report *r, const vp_view *v);
/* The holders of one peak; the rows add up to it. */
void tbl_plan_buffers(tbl *t, const vp_report *r, const vp_view *v, const vp_memory_plan *m);
void tbl_donations(tbl *t, const vp_report *r, const vp_view *v, const vp_memory_plan *m);

/* Its peak, or, if lifetimes are unknown, the reserved memory. */
int64_t tbl_plan_peak(const vp_memory_plan *m);
/* "main", "the host's", "on chip (1)"; written to the caller's buffer if there is no constant name.
 */
const char *tbl_space_of(const vp_memory_plan *m, char made[32]);

#endif
