/* Tables of memory: allocators and memory plans. Ownership: see tbl.h. */
#ifndef VP_REPORT_MEMORY_TABLES_H
#define VP_REPORT_MEMORY_TABLES_H

#include "trace/report/table/tbl.h"

void tbl_memory(tbl *t, const vp_report *r, const vp_view *v);
/* What is in the peak of one of them, as far as the profile tells. */
void tbl_holders(tbl *t, const vp_report *r, const vp_view *v, const vp_memory *m);
/* What its steps take and do not give back. */
void tbl_leaks(tbl *t, const vp_report *r, const vp_view *v, const vp_memory *m);

/* A row a program and memory space. */
void tbl_plans(tbl *t, const vp_report *r, const vp_view *v);
/* Who holds the peak of one of them; the rows sum to it. */
void tbl_plan_buffers(tbl *t, const vp_report *r, const vp_view *v, const vp_memory_plan *m);
void tbl_donations(tbl *t, const vp_report *r, const vp_view *v, const vp_memory_plan *m);

/* Its peak, or, where no lifetimes are known, what it reserves. */
int64_t tbl_plan_peak(const vp_memory_plan *m);
/* "main", "the host's", "on chip (1)"; made there where it is none of ours. */
const char *tbl_space_of(const vp_memory_plan *m, char made[32]);

#endif
