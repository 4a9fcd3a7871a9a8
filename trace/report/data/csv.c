#include "trace/report/data/csv.h"

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/report/data/csv_table.h"
#include "trace/report/table/ops_table.h"
#include "trace/report/labels/shown_rows.h"

/* All rows that the view selects; shares are of the whole device. */
int rep_csv(vp_buf *b, const vp_report *r, const vp_view *view)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *rows = NULL;
    VP_CLEANUP(vp_free_ptr)
    int64_t *cumulative = vp_calloc(r->device_count + 1, sizeof *cumulative);
    vp_view v = view ? *view : (vp_view){.version = 1};
    size_t n, matching;
    ops_table table;
    csv_row_writer w;
    VP_NEED(cumulative);
    VP_TRY(rep_select(&rows, &n, &matching, r, &v));
    tbl_ops(&table, r, &v);
    csv_init_rows(&w, b, &table.t);
    for (size_t i = 0; i < n; i++) {
        const vp_op *op = &r->ops[rows[i]];
        ops_row row = ops_row_of(op, r->devices[op->device].self_ps, 0);
        row.cumulative_ps = cumulative[op->device] += op->self_ps;
        csv_row(&w, &row);
    }
    return b->status;
}
