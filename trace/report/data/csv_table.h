/* Writes a table as CSV. Nothing is owned. */
#ifndef VP_REPORT_CSV_TABLE_H
#define VP_REPORT_CSV_TABLE_H

#include "trace/report/table/tbl.h"

/* The line of heads; then a row at a time, by csv_row, which is what tbl_each calls. Columns know
 * no cells of the table's own. */
typedef struct csv_row_writer {
    vp_buf *b;
    const tbl *t;
    const tbl_column *columns[TBL_COLUMNS_MAX];
    size_t n;
} csv_row_writer;
void csv_init_rows(csv_row_writer *w, vp_buf *b, const tbl *t);
void csv_row(void *ctx, const void *row);

#endif
