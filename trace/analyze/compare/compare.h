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

/* One side: one or more captures of the same program, and the number of captures that could not be
 * read. The caller owns the reports. */
typedef struct compare_side {
    const vp_report *const *captures;
    size_t n, unreadable;
} compare_side;

/* Compares two sides. All reports are full and have the same grouping. The noise is that within and
 * between captures. Ops, scopes and devices are those of the capture with the median step time of
 * its side. A capture is ignored if it has no events, has no steps while others have some, or is
 * passed twice. The comparison has copies of all texts. VP_EEMPTY: no capture of a side has events.
 */
int compare_sides(vp_comparison **out, const compare_side *a, const compare_side *b);
/* The same with one capture per side. VP_EEMPTY: one of them has no events. */
int compare_make(vp_comparison **out, const vp_report *a, const vp_report *b);
void compare_free(vp_comparison *c);

#endif
