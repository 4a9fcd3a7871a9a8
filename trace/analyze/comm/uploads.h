/* Who copies data to CPU devices (docs/reference/metrics.md#uploads): the program's function, the
 * compiled function that is called with data of the host, and its argument. Texts go into the
 * host's rows of transfers. */
#ifndef VP_ANALYZE_UPLOADS_H
#define VP_ANALYZE_UPLOADS_H

#include "trace/analyze/result/analysis.h"

/* Sets caller, function and argument of the row of host copies to devices. Looks up programs, which
 * must be parsed. VP_ENOMEM. */
int uploads_collect(analysis *a);
/* Names the caller of copies in idle labels, which pools of the runtime make for it. After
 * gaps_collect. */
int uploads_name_idle(analysis *a);

#endif
