/* Tables of gaps and of host activity during idle time. Ownership: see tbl.h. */
#ifndef VP_REPORT_IDLE_TABLES_H
#define VP_REPORT_IDLE_TABLES_H

#include "trace/report/table/tbl.h"

/* The scales of the units of gaps. */
enum { GAP_LENGTH, GAP_START };

/* `of` may be an int64_t: starts are told to place gaps of that length, not each of its own. */
void tbl_gaps(tbl *t, const vp_report *r, const vp_view *v);
/* By what the host did meanwhile. */
void tbl_idle_labels(tbl *t, const vp_report *r, const vp_view *v);

#endif
