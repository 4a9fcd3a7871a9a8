/* Writes a table as CSV. Nothing is owned. */
#ifndef VP_REPORT_CSV_TABLE_H
#define VP_REPORT_CSV_TABLE_H

#include "trace/report/table/tbl.h"

/* Writes the line of heads; then csv_row, the callback of tbl_each, writes one row. Columns have no
 * cells of the table's own. */
typedef struct csv_row_writer {
    vp_buf *b;
    const tbl *t;
    const tbl_column *columns[TBL_COLUMNS_MAX];
    size_t n;
} csv_row_writer;
void csv_init_rows(csv_row_writer *w, vp_buf *b, const tbl *t);
void csv_row(void *ctx, const void *row);

#endif
