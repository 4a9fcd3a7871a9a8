/* When the timelines of a session's hosts are, among each other: by the ends of the collective
 * calls that they share where there are any (docs/reference/metrics.md#devices-and-stragglers),
 * else by the wall clocks of their files, else by their starts. Doors of other rooms include this:
 * the `export` command and the routes of timelines. */
#ifndef VP_ANALYZE_CLOCKS_H
#define VP_ANALYZE_CLOCKS_H

#include "include/view_profile.h"
#include "trace/model/catalog/catalog.h"
#include "trace/model/host_clock.h"

/* out: one a host of the session. r: a full report of the session, or NULL where there is none, and
 * no host is placed then. VP_ENOMEM. */
int clocks_of(host_clock *out, const cat_session *s, const vp_report *r);

#endif
