/* Tables of steps. Ownership: see tbl.h. */
#ifndef VP_REPORT_STEPS_TABLES_H
#define VP_REPORT_STEPS_TABLES_H

#include "trace/report/table/tbl.h"

/* Cells that the formats write, and the indices of the units. */
enum { STEP_NAME, STEP_MARKS };
enum { STEP_LENGTH, STEP_START };

/* A table of n steps of the report, in the given order. */
void tbl_steps(tbl *t, const vp_report *r, const vp_view *v, const vp_step *const *steps, size_t n);
void tbl_step_kinds(tbl *t, const vp_report *r, const vp_view *v);

#endif
