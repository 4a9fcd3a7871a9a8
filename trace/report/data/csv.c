#include "trace/report/data/csv.h"

#include <math.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"
#include "trace/report/table/ops_table.h"
#include "trace/report/words/shown_rows.h"

void rep_csv_text(vp_buf *b, const char *z)
{
    vp_buf safe;
    if (!z)
        return;
    vp_buf_init(&safe, VP_REPORT_BYTES_MAX);
    vp_put_escaped(&safe, vp_str_of(z));
    vp_buf_putc(b, '"');
    if (*z && strchr("=+-@", *z))
        vp_buf_putc(b, '\'');
    for (size_t i = 0; i < safe.n; i++) {
        if (safe.p[i] == '"')
            vp_buf_putc(b, '"');
        vp_buf_putc(b, safe.p[i]);
    }
    vp_buf_putc(b, '"');
    vp_buf_free_piece(b, &safe);
}

void rep_csv_next_text(vp_buf *b, const char *z)
{
    vp_buf_putc(b, ',');
    rep_csv_text(b, z);
}

void rep_csv_next_i64(vp_buf *b, int64_t v, int64_t unknown)
{
    vp_buf_putc(b, ',');
    if (v != unknown)
        vp_buf_i64(b, v);
}

void rep_csv_next_double(vp_buf *b, double v)
{
    vp_buf_putc(b, ',');
    if (isfinite(v))
        vp_buf_printf(b, "%.9g", v);
}

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
    if (!cumulative)
        return vp_fail(VP_ENOMEM, "out of memory");
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
