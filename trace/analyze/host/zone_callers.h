/* Who calls a zone: by kind of event, the user's frame in which its calls take most time. For
 * programs without devices, whose findings name zones of libraries. */
#ifndef VP_ANALYZE_ZONE_CALLERS_H
#define VP_ANALYZE_ZONE_CALLERS_H

#include "trace/analyze/result/analysis.h"

/* *out: by kind, the kind of the innermost frame around most of its time; UINT32_MAX: none, also
 * for frames themselves. The caller frees it. VP_ENOMEM, VP_ELIMIT. */
int zone_callers_new(uint32_t **out, const analysis *a);

#endif
