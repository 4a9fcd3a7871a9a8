/* A report and its findings as CSV, and the cells that other tables in CSV are made of. Included by
 * the doors of report/ and its writers of CSV. */
#ifndef VP_REPORT_CSV_H
#define VP_REPORT_CSV_H

#include "include/view_profile.h"
#include "trace/base/buf.h"
#include "trace/report/table/tbl.h"

/* The line of heads; then a row at a time, by csv_row, which is what tbl_each calls. Columns know
 * no cells of the table's own. csv_table.c */
typedef struct csv_row_writer {
    vp_buf *b;
    const tbl *t;
    const tbl_column *columns[TBL_COLUMNS_MAX];
    size_t n;
} csv_row_writer;
void csv_init_rows(csv_row_writer *w, vp_buf *b, const tbl *t);
void csv_row(void *ctx, const void *row);

/* A quoted cell that no spreadsheet takes for a formula; nothing for NULL. */
void rep_csv_text(vp_buf *b, const char *z);
/* The same behind a comma. */
void rep_csv_next_text(vp_buf *b, const char *z);
void rep_csv_next_i64(vp_buf *b, int64_t v, int64_t unknown);
void rep_csv_next_double(vp_buf *b, double v); /* nothing unless finite */

int rep_csv(vp_buf *b, const vp_report *r, const vp_view *v);
int rep_findings_csv(vp_buf *b, const vp_report *r); /* one row a rule */

#endif
