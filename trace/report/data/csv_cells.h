/* Cells of CSV. */
#ifndef VP_REPORT_CSV_CELLS_H
#define VP_REPORT_CSV_CELLS_H

#include "trace/base/buf.h"

/* A quoted cell; nothing for NULL. What a spreadsheet would take for a formula has an apostrophe in
 * front: names in a profile are anybody's. */
void rep_csv_text(vp_buf *b, const char *z);
/* The same behind a comma. */
void rep_csv_next_text(vp_buf *b, const char *z);
void rep_csv_next_i64(vp_buf *b, int64_t v, int64_t unknown);
void rep_csv_next_double(vp_buf *b, double v); /* nothing unless finite */

#endif
