/* Tables of threads, zone arguments, counters and program metadata. Ownership: see tbl.h. */
#ifndef VP_REPORT_PROGRAM_TABLES_H
#define VP_REPORT_PROGRAM_TABLES_H

#include "trace/report/table/tbl.h"

void tbl_threads(tbl *t, const vp_report *r, const vp_view *v);
/* Texts among the values are cells written by the formats. */
void tbl_args(tbl *t, const vp_report *r, const vp_view *v);
void tbl_counters(tbl *t, const vp_report *r, const vp_view *v);
/* On a terminal: arguments with text values. */
void tbl_arg_texts(tbl *t, const vp_report *r, const vp_view *v);
void tbl_meta(tbl *t, const vp_report *r, const vp_view *v);

#endif
