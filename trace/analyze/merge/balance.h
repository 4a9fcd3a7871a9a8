/* Balance of the devices of a merged report, and stragglers
 * (docs/reference/metrics.md#devices-and-stragglers). A pure function of `devices`, `collectives`
 * and `modules`, so reports made here and reports read from files give the same result. */
#ifndef VP_ANALYZE_BALANCE_H
#define VP_ANALYZE_BALANCE_H

#include "include/view_profile.h"

/* Fills r->balance and the wait_ps of r->collectives, replacing previous values. Owns nothing
 * (straggler_host is that of the device). First aligns the clocks of hosts by the ends of matched
 * calls. VP_ENOMEM. */
int balance_make(vp_report *r);

#endif
