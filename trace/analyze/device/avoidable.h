/* Work that HLO programs show to be avoidable (docs/reference/metrics.md#avoidable-work): by op,
 * the part of its self time in double precision, in layout changes, and in copies of arguments. */
#ifndef VP_ANALYZE_AVOIDABLE_H
#define VP_ANALYZE_AVOIDABLE_H

#include "trace/analyze/result/analysis.h"

/* Sets avoidable of h->ops. Parses programs, so no other analysis may do so at the same time. */
int avoidable_collect(analysis *a);

#endif
