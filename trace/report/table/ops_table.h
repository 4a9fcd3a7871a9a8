/* Table of ops: the slowest ops of a device in text and HTML, all ops as CSV. Rows are made one at
 * a time from groups, parts of a group and the rest. Nothing is owned. */
#ifndef VP_REPORT_OPS_TABLE_H
#define VP_REPORT_OPS_TABLE_H

#include "trace/report/table/tbl.h"
#include "trace/report/labels/shown_rows.h"

/* TBL_BLANK and TBL_BLANK_NUMBER if the figure does not apply to such a row. */
typedef struct ops_row {
    const vp_op *op;       /* NULL: a part of the group above, or the rows not shown */
    const vp_split *split; /* a part */
    size_t others;         /* groups that are not shown */
    int64_t rank, self_ps, all_self_ps, max_self_ps, cumulative_ps, total_ps, calls;
    int64_t mean_ps, max_ps;
    double cv, gb_per_s, gflop_per_s;
} ops_row;

enum { OPS_SUM, OPS_CALL, OPS_STEP }; /* the table's units: of sums, of calls, of steps */
enum {                                /* flags for `has` */
       OPS_BYTES = 4,
       OPS_FLOPS = 8,
       OPS_STEPS = 16,
       OPS_IDLE = 32,
       OPS_BY_TOTAL = 64, /* totals rank the rows */
       OPS_LAUNCH = 128,  /* rows have the kind of kernel launch */
       OPS_OPERATOR = 256 /* operators were found by launches */
};

/* Heads and widths depend on the grouping of the report, so the columns are not constant. */
typedef struct ops_table {
    tbl t;
    tbl_column columns[TBL_COLUMNS_MAX];
} ops_table;

/* Without units and optional columns. */
void tbl_ops(ops_table *out, const vp_report *r, const vp_view *v);
/* docs/reference/metrics.md#mixed-groups: the calls of a group differ so much that they are several
 * ops with one name. */
bool ops_is_mixed(const vp_op *op, int64_t all_self_ps);
/* The denominator of shares is all_self_ps; bars are relative to max_self_ps. */
ops_row ops_row_of(const vp_op *op, int64_t all_self_ps, int64_t max_self_ps);
ops_row ops_row_of_split(const rep_rows *rows, const vp_split *split);
ops_row ops_row_of_others(const rep_rows *rows);

#endif
