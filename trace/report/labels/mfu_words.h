/* The waterfall in words: the cells of a device's window in their order, and one sentence. Included
 * by all who print it; nothing is owned. */
#ifndef VP_REPORT_MFU_WORDS_H
#define VP_REPORT_MFU_WORDS_H

#include "include/view_profile.h"
#include "trace/base/buf.h"

/* All cells of a window: those of compute, then what is exposed, then idle by cause. */
enum { MFU_CELLS_MAX = VP_CELLS + 3 + VP_CAUSES };

typedef struct mfu_cell {
    const char *name; /* "inefficiency of matrix products" */
    const char *css;  /* class of its colour on pages */
    const char *tip;  /* what it is, and what removing it could save */
    int64_t ps;
} mfu_cell;

/* Fills out[0..n), whose sum is the window, and returns n. */
size_t rep_mfu_cells(mfu_cell out[MFU_CELLS_MAX], const vp_device *d);
/* The name of a cell of compute: "inefficiency of products". */
const char *rep_cell_name(vp_cell cell);
/* And in a few letters, for the terminal: X(cell, word). */
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
/* Their shares in hundredths of a percent, which sum to 100 % where there is any time. */
void rep_mfu_shares(int *out, const mfu_cell *cells, size_t n);
/* Whether it has a peak, or FLOP that one could be told for. */
bool rep_has_mfu(const vp_device *d);
/* Appends "TPU:0: MFU 41.2% of 1153.5 TFLOP/s bf16 (TPU7x, as named) over 67.235 ms; …". */
int rep_put_mfu(vp_buf *b, const vp_report *r, const vp_view *v, size_t device);
/* The mean MFU of the *devices that computed and have a peak, each of its own window; no number:
 * none has. */
double rep_mean_mfu(const vp_report *r, size_t *devices);
/* Appends a sentence of it where it is of several, with `head` before and `tail` behind. */
void rep_put_mean_mfu(vp_buf *b, const vp_report *r, const char *head, const char *tail);
/* Where an op's point lies under the roof. Intensity in FLOP a byte and the fraction of the bound
 * are no numbers where they are unknown. */
double rep_intensity(const vp_roof *roof);
double rep_of_bound(const vp_roof *roof);
const char *rep_bound(const vp_roof *roof); /* "compute", "memory"; NULL unknown */
int64_t rep_roof_ps(const vp_roof *roof);   /* the time that it has: Σ of its cells */

#endif
