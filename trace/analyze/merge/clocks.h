/* Offsets between the timelines of a run's hosts: from the ends of common collective calls if there
 * are any (docs/reference/metrics.md#devices-and-stragglers), else from the wall clocks of the
 * files, else from their starts. Also used by `export` and the timeline routes. The caller owns the
 * output array. */
#ifndef VP_ANALYZE_CLOCKS_H
#define VP_ANALYZE_CLOCKS_H

#include "include/view_profile.h"
#include "trace/model/catalog/catalog.h"
#include "trace/model/host_clock.h"

/* out: one per host of the run. r: a full report of the run; NULL: no report, and offsets are
 * unknown. VP_ENOMEM. */
int clocks_of(host_clock *out, const cat_session *s, const vp_report *r);

#endif
