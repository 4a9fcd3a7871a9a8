/* What callbacks of XLA:CPU programs cost in addition to their own time: the program is launched
 * synchronously, so the next launch comes late (docs/reference/metrics.md#callbacks). Values go
 * into the devices' hygiene. */
#ifndef VP_ANALYZE_CALLBACKS_H
#define VP_ANALYZE_CALLBACKS_H

#include "trace/analyze/result/analysis.h"

/* Sets callback_held_ps and callback_events of each device. VP_ENOMEM, VP_ELIMIT. */
int callbacks_collect(analysis *a);

#endif
