/* The captures of both sides of a comparison: which of them are used, which one is shown, and how
 * much of a difference is noise within and between them. Internal header of compare*.c. */
#ifndef VP_ANALYZE_COMPARE_CAPTURES_H
#define VP_ANALYZE_COMPARE_CAPTURES_H

#include "trace/analyze/compare/compare_parts.h"

/* Lists the captures of both sides in k->c and sets the reports of k->a and k->b to those shown.
 * VP_EEMPTY: a side has no capture with events. */
int cmp_captures(comparing *k);
/* Sets the number of steps, the medians and the noise of a comparison by steps. */
int cmp_steps_and_noise(comparing *k);
/* True if the i-th capture of a side is used. */
bool cmp_capture_counts(const comparing *k, bool of_b, size_t i);

#endif
