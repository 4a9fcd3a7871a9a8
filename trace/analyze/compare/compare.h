/* Compares two reports (docs/reference/metrics.md#comparison). A pure function of the reports; the
 * caller frees the comparison. Fails if a report is incomplete or the group differs.
 *
 * Values are means over counted steps, per device; idle time absorbs the rounding. Ops are means
 * over the devices of a kind. Scopes, which cover the whole capture, are scaled to the op time of a
 * step. Noise is symmetric, so swapping A and B negates every difference and reverses the verdict.
 */
#ifndef VP_ANALYZE_COMPARE_H
#define VP_ANALYZE_COMPARE_H

#include "include/view_profile.h"

/* One side: one or more captures of the same program, and how many more could not be read. The
 * pointers stay the caller's. */
typedef struct compare_side {
    const vp_report *const *captures;
    size_t n, unreadable;
} compare_side;

/* All reports are full and of one grouping. The noise is that within and between captures. Ops,
 * scopes and devices are those of the capture with the median step time of its side. A capture
 * without events, without steps beside others that have some, or that is given twice does not
 * count. The comparison holds copies of all texts. VP_EEMPTY: no capture of a side has events. */
int compare_sides(vp_comparison **out, const compare_side *a, const compare_side *b);
/* The same with one capture a side. Of two reports of one grouping, both full. The comparison holds
 * copies of all its texts. VP_EEMPTY: one of them has not one event. */
int compare_make(vp_comparison **out, const vp_report *a, const vp_report *b);
void compare_free(vp_comparison *c);

#endif
