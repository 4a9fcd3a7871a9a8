/* Tables of a comparison for the terminal and the page. Ownership: see tbl.h. */
#ifndef VP_REPORT_COMPARE_TABLES_H
#define VP_REPORT_COMPARE_TABLES_H

#include "trace/report/compare/delta_columns.h"
#include "trace/report/labels/mfu_words.h"

/* ---- Times, or the parts of a window ---- */

typedef struct part_row {
    const char *name;      /* ours */
    const char *css_class; /* CSS class of its color; NULL: none */
    vp_delta d;
    tbl_style name_style, style; /* tooltips of the name and of the other columns except the two
                                  * figures */
} part_row;

enum { PART_NAME = DELTA_OTHERS, PART_BAR };
enum { PART_BARS = 4 }; /* for `has`: bars on the terminal */

void tbl_parts(delta_table *out, const part_row *rows, size_t n, const vp_view *v);
/* Fills the differences of a device's MFU waterfall by cell, for cells that either run has, then
 * the difference of the windows, which is their sum. Returns the number of rows. Compute is one row
 * if either run has no peak. Returns 0 if only the four classes are known. */
enum { PART_CELLS_MAX = MFU_CELLS_MAX + 1 };
size_t rep_compared_cells(part_row out[PART_CELLS_MAX], const vp_compared_device *d, bool per_step);

/* ---- Devices, ops and scopes of c ---- */

enum { MOVED_CALLS = DELTA_OTHERS, MOVED_CALLS_A, MOVED_CALLS_B, MOVED_NAME, MOVED_WHY };
enum { SCOPE_NAME = DELTA_OTHERS };
enum { IDLE_NAME = DELTA_OTHERS };

void tbl_compared_devices(delta_table *out, const vp_comparison *c, const vp_view *v);
void tbl_moved(delta_table *out, const vp_comparison *c, const vp_view *v);
void tbl_compared_scopes(delta_table *out, const vp_comparison *c, const vp_view *v);
void tbl_compared_idle(delta_table *out, const vp_comparison *c, const vp_view *v);
/* "fetch (data.py:9), called by train (train.py:37)" */
void rep_put_idle_name(vp_buf *b, const vp_compared_idle *x);

#endif
