/* Gaps of all devices and their causes. Rows go into the host's result. */
#ifndef VP_ANALYZE_GAPS_H
#define VP_ANALYZE_GAPS_H

#include "trace/analyze/result/analysis.h"

/* Finds the gaps of all devices, so that host activity is read only for those times. Needs
 * steps_collect before it. */
int gaps_ask(analysis *a);
/* Sets the causes of each device's idle time, h->gaps, h->idle_labels and idle_before of ops and
 * scopes, and adds the starved time to the launch figures. Needs gaps_ask and launch_collect before
 * it. */
int gaps_collect(analysis *a);
/* Frees the gaps found by gaps_ask. */
void gaps_free(analysis *a);

#endif
