/* Tables of hosts: compilation and host events. Ownership: see tbl.h. */
#ifndef VP_REPORT_HOST_TABLES_H
#define VP_REPORT_HOST_TABLES_H

#include "trace/report/table/tbl.h"

/* Indices of the units of work on the host. */
enum { HOST_SUM, HOST_CALL };

/* Compiled functions. */
void tbl_functions(tbl *t, const vp_report *r, const vp_view *v);
void tbl_host_ops(tbl *t, const vp_report *r, const vp_view *v);

#endif
