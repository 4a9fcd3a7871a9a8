/* Gaps of all devices and their causes. Rows go into the host's result. */
#ifndef VP_ANALYZE_GAPS_H
#define VP_ANALYZE_GAPS_H

#include "trace/analyze/result/analysis.h"

/* Finds the gaps of all devices, so that what the host does is looked at for those times only.
 * Needs steps_collect before it. */
int gaps_ask(analysis *a);
/* Sets the causes of each device's idle time, h->gaps, h->idle_labels and idle_before of ops and
 * scopes, and adds to the launch figures what the device starved for. Needs gaps_ask and
 * launch_collect before it. */
int gaps_collect(analysis *a);
/* Frees what gaps_ask found. */
void gaps_free(analysis *a);

#endif
