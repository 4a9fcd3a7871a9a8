/* Roofline tables of ops and scopes: rates, intensity, bound, and the share of the bound reached.
 * The caller frees the rows. */
#ifndef VP_REPORT_MFU_TABLES_H
#define VP_REPORT_MFU_TABLES_H

#include "trace/report/table/tbl.h"

typedef struct roof_row {
    const char *name, *bound, *source;
    const vp_op *op; /* NULL of a scope */
    const vp_roof *roof;
    uint32_t device;                           /* VP_NO_DEVICE of a scope */
    int64_t time_ps;                           /* its part of the compute time */
    double gflop_s, gb_s, intensity, of_bound; /* no number: unknown; of_bound in percent */
} roof_row;

/* The rows with the most time of those with a known cost, at most `most`: ops of the devices that
 * the view shows, or scopes. VP_ENOMEM. */
int roof_rows_of_ops(roof_row **out, size_t *n, const vp_report *r, const vp_view *v, size_t most);
int roof_rows_of_scopes(roof_row **out, size_t *n, const vp_report *r, size_t most);
void tbl_roofs(tbl *t, const vp_report *r, const vp_view *v, const roof_row *rows, size_t n);
/* What the time of scopes consists of: the cells of the waterfall, which sum to it. */
void tbl_cells_of_scopes(tbl *t, const vp_report *r, const vp_view *v, const roof_row *rows,
                         size_t n);

/* The slowest of the steps that count, the one nearest to their median and the fastest: what each
 * consists of on its critical device, which sums to its length. */
#define CELLS_OF_STEPS_MAX 3u
typedef struct cells_of_step {
    const char *name; /* "slowest" */
    int64_t number;   /* as the program counts, else by time from 1 on */
    int64_t dur_ps;
    const vp_step_device *on;
} cells_of_step;
/* Fills rows, which must outlive the table; without rows where no peak is known. */
void tbl_cells_of_steps(tbl *t, const vp_report *r, const vp_view *v,
                        cells_of_step rows[CELLS_OF_STEPS_MAX]);

#endif
