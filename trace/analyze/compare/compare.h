/* What changed from one report to another (docs/reference/metrics.md#comparison): a pure function
 * of the two. The C API, the CLI and the routes include this.
 *
 * Means of the steps that count are taken, per device, and idle time takes the rounding; ops are
 * means over the devices of a kind; scopes, which are of the whole capture, are scaled to the op
 * time of a step. Both sides enter the noise alike, so that swapping them negates every difference
 * and turns the verdict around. */
#ifndef VP_ANALYZE_COMPARE_H
#define VP_ANALYZE_COMPARE_H

#include "include/view_profile.h"

/* Of two reports of one grouping, both full. The comparison holds copies of all its texts.
 * VP_EEMPTY: one of them has not one event. */
int compare_make(vp_comparison **out, const vp_report *a, const vp_report *b);
void compare_free(vp_comparison *c);

#endif
