/* Cells of CSV. */
#ifndef VP_REPORT_CSV_CELLS_H
#define VP_REPORT_CSV_CELLS_H

#include "trace/base/buf.h"

/* A quoted cell; empty for NULL. A cell that a spreadsheet would read as a formula gets a leading
 * apostrophe, because names in a profile are untrusted. */
void rep_csv_text(vp_buf *b, const char *z);
/* The same after a comma. */
void rep_csv_next_text(vp_buf *b, const char *z);
void rep_csv_next_i64(vp_buf *b, int64_t v, int64_t unknown);
void rep_csv_next_double(vp_buf *b, double v); /* empty unless finite */

#endif
