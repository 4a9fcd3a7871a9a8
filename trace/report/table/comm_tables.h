/* Tables of collectives and transfers. Ownership: see tbl.h. */
#ifndef VP_REPORT_COMM_TABLES_H
#define VP_REPORT_COMM_TABLES_H

#include "trace/report/table/tbl.h"

void tbl_collectives(tbl *t, const vp_report *r, const vp_view *v);
void tbl_transfers(tbl *t, const vp_report *r, const vp_view *v);

#endif
