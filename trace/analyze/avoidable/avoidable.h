/* Work that HLO programs show to be avoidable (docs/reference/metrics.md#avoidable-work): by op,
 * parts of its self time; by module, the program that computes its products, too. */
#ifndef VP_ANALYZE_AVOIDABLE_H
#define VP_ANALYZE_AVOIDABLE_H

#include "trace/analyze/result/analysis.h"

/* Sets avoidable of h->ops and repeats of h->modules. Parses programs, so no other analysis may do
 * so at the same time. */
int avoidable_collect(analysis *a);

#endif
