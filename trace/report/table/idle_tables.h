/* Tables of gaps and of host activity during idle time. Ownership: see tbl.h. */
#ifndef VP_REPORT_IDLE_TABLES_H
#define VP_REPORT_IDLE_TABLES_H

#include "trace/report/table/tbl.h"

/* Indices of the units of gaps. */
enum { GAP_LENGTH, GAP_START };

/* `of` may be an int64_t, the length of a gap: all starts are printed with the precision for that
 * length instead of each gap's own. */
void tbl_gaps(tbl *t, const vp_report *r, const vp_view *v);
/* By concurrent activity of the host. */
void tbl_idle_labels(tbl *t, const vp_report *r, const vp_view *v);

#endif
