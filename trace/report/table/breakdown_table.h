/* Table of the window parts of each device. Ownership: see tbl.h. */
#ifndef VP_REPORT_BREAKDOWN_TABLE_H
#define VP_REPORT_BREAKDOWN_TABLE_H

#include "trace/report/table/tbl.h"

/* Devices that the view selects, except those with skip[i] (NULL: none). */
void tbl_breakdown(tbl *t, const vp_report *r, const vp_view *v, const bool *skip);

#endif
