/* Texts of the MFU breakdown: the cells of a device's window in order, and one sentence. Nothing is
 * owned. */
#ifndef VP_REPORT_MFU_WORDS_H
#define VP_REPORT_MFU_WORDS_H

#include "include/view_profile.h"
#include "trace/base/buf.h"

/* All cells of a window: compute, then exposed, then idle by cause. */
enum { MFU_CELLS_MAX = VP_CELLS + 3 + VP_CAUSES };

typedef struct mfu_cell {
    const char *name; /* "matmul inefficiency" */
    const char *css;  /* CSS class of its color */
    const char *tip;  /* tooltip: its meaning, and how to reduce it */
    int64_t ps;
} mfu_cell;

/* Fills out[0..n), which add up to the window; returns n. */
size_t rep_mfu_cells(mfu_cell out[MFU_CELLS_MAX], const vp_device *d);
/* Name of a compute cell: "matmul inefficiency". */
const char *rep_cell_name(vp_cell cell);
/* Short names for the terminal: X(cell, name). */
#define REP_CELLS_BRIEF(X)                                                                         \
    X(USEFUL, "useful")                                                                            \
    X(RECOMPUTE, "redone")                                                                         \
    X(PAD, "padding")                                                                              \
    X(INEFFICIENCY, "ineffic.")                                                                    \
    X(MEM_EXCESS, "memory")                                                                        \
    X(NM_MEMORY, "oth.mem")                                                                        \
    X(NM_EXCESS, "oth.rest")                                                                       \
    X(UNKNOWN, "unknown")
const char *rep_cell_brief(vp_cell cell);
/* Shares in hundredths of a percent, which add up to 100% if there is any time. */
void rep_mfu_shares(int *out, const mfu_cell *cells, size_t n);
/* True if the device has a peak, or FLOP for which the user could set one. */
bool rep_has_mfu(const vp_device *d);
/* Appends "TPU:0: MFU 41.2% of 1153.5 TFLOP/s bf16 (TPU7x, as named) over 67.235 ms; …". */
int rep_put_mfu(vp_buf *b, const vp_report *r, const vp_view *v, size_t device);
/* Mean MFU of the *devices that computed and have a peak, each over its own window; NaN if there
 * are none. */
double rep_mean_mfu(const vp_report *r, size_t *devices);
/* Appends it as a sentence between `head` and `tail`, if there are several devices. */
void rep_put_mean_mfu(vp_buf *b, const vp_report *r, const char *head, const char *tail);
/* Position of an op in the roofline: intensity in FLOP/byte, and the fraction of the bound; NaN if
 * unknown. */
double rep_intensity(const vp_roof *roof);
double rep_of_bound(const vp_roof *roof);
const char *rep_bound(const vp_roof *roof); /* "compute", "memory"; NULL unknown */
int64_t rep_roof_ps(const vp_roof *roof);   /* its time: the sum of its cells */

#endif
