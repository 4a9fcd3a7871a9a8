/* Tables of trends: runs, and the ops that changed most. Ownership: see tbl.h. */
#ifndef VP_REPORT_TREND_TABLES_H
#define VP_REPORT_TREND_TABLES_H

#include "trace/report/table/tbl.h"
#include "trace/report/trend/trend_view.h"

enum { TREND_CAPTURED, TREND_CHANGE, TREND_PARTS, TREND_COURSE }; /* own cells */

/* t.of is the trend, for both tables. */
void tbl_runs(tbl *out, const trend *t, const vp_view *v);
void tbl_trend_ops(tbl *out, const trend *t, const trend_row *rows, size_t n, const vp_view *v);
/* The time by which runs are compared. */
int64_t trend_time_of(const trend_run *r);

#endif
