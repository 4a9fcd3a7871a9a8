/* Tables of the page of an op: its slowest calls, the names in its group, its launches and the
 * operators that launched it. Ownership: see tbl.h. */
#ifndef VP_REPORT_CALLS_TABLES_H
#define VP_REPORT_CALLS_TABLES_H

#include "trace/analyze/op_details.h"
#include "trace/report/table/tbl.h"

/* op is an op of r, and d are its details; t.of is the op_calls passed by the caller. */
typedef struct op_calls {
    const vp_op *op;
    const op_details *d;
} op_calls;
void tbl_calls(tbl *t, const vp_report *r, const vp_view *v, const op_calls *of);
void tbl_names(tbl *t, const vp_report *r, const vp_view *v, const op_calls *of);
void tbl_kernels(tbl *t, const vp_report *r, const vp_view *v, const op_calls *of);
void tbl_callers(tbl *t, const vp_report *r, const vp_view *v, const op_calls *of);

#endif
