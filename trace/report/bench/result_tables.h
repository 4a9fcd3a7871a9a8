/* Tables of benchmark results: methods by number of devices, and comparisons of two results.
 * Ownership: see tbl.h. */
#ifndef VP_REPORT_RESULT_TABLES_H
#define VP_REPORT_RESULT_TABLES_H

#include "trace/report/bench/scaling_compare.h"
#include "trace/report/compare/delta_columns.h"

/* Cells written by the formats. */
enum {
    RESULT_SPEED_UP = DELTA_OTHERS,
    RESULT_EFFICIENCY,
    RESULT_RUNS,
    RESULT_NAME,
    RESULT_DEVICES,
    RESULT_JUDGED
};
/* Sides and scope of a table of pairs: methods on different numbers of devices, or on the same one.
 */
enum { RESULT_OF_RUNS = 4, RESULT_SCALES = 8, RESULT_ALIKE = 16 };

/* Rows of one method or of several. */
void tbl_scaling(tbl *t, const scaling_row *rows, size_t n, const vp_view *v);

/* Pairs, compared by one of the times. */
typedef struct pair_row {
    const scaling_pair *pair;
    vp_delta d;
} pair_row;
pair_row pair_row_of(const scaling_pair *pair, size_t time);
/* Rows are put individually. */
void tbl_pairs(delta_table *out, const scaling_comparison *c, size_t time, const vp_view *v);

/* "1.50x", "75.0%"; "-" for unknown. */
void result_put_factor(vp_buf *b, double v, const char *unit, int digits);

#endif
