/* Roofline tables of ops and scopes: rates, intensity, bound, and the share of the bound reached.
 * The caller frees the rows. */
#ifndef VP_REPORT_MFU_TABLES_H
#define VP_REPORT_MFU_TABLES_H

#include "trace/report/table/tbl.h"

typedef struct roof_row {
    const char *name, *bound, *source;
    const vp_op *op; /* NULL of a scope */
    const vp_roof *roof;
    uint32_t device;                           /* VP_NO_DEVICE for a scope */
    int64_t time_ps;                           /* its share of the compute time */
    double gflop_s, gb_s, intensity, of_bound; /* NaN: unknown; of_bound in percent */
} roof_row;

/* Fills at most `most` rows with known cost and the longest time: ops of the devices that the view
 * shows, or scopes. VP_ENOMEM. */
int roof_rows_of_ops(roof_row **out, size_t *n, const vp_report *r, const vp_view *v, size_t most);
int roof_rows_of_scopes(roof_row **out, size_t *n, const vp_report *r, size_t most);
void tbl_roofs(tbl *t, const vp_report *r, const vp_view *v, const roof_row *rows, size_t n);
/* The time of scopes by cells of the waterfall, which add up to it. */
void tbl_cells_of_scopes(tbl *t, const vp_report *r, const vp_view *v, const roof_row *rows,
                         size_t n);

/* The slowest complete step, the one nearest to the median and the fastest. Each has the cells of
 * its critical device, which add up to its duration. */
#define CELLS_OF_STEPS_MAX 3u
typedef struct cells_of_step {
    const char *name; /* "slowest" */
    int64_t number;   /* numbers of the program, else by time from 1 */
    int64_t dur_ps;
    const vp_step_device *on;
} cells_of_step;
/* Fills rows, which must outlive the table; no rows if no peak is known. */
void tbl_cells_of_steps(tbl *t, const vp_report *r, const vp_view *v,
                        cells_of_step rows[CELLS_OF_STEPS_MAX]);

#endif
