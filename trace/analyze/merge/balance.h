/* How evenly the devices of a whole report work, and who the others wait for
 * (docs/reference/metrics.md#devices-and-stragglers). A pure function of a report whose hosts are
 * joined: it needs nothing but `devices`, `collectives` and `modules`, so it gives the same for
 * reports that were made here and read back. Only analyze/ includes this. */
#ifndef VP_ANALYZE_BALANCE_H
#define VP_ANALYZE_BALANCE_H

#include "include/view_profile.h"

/* Fills r->balance and the wait_ps of r->collectives, replacing what was there; owns nothing
 * (straggler_host is the device's). The clocks of hosts are aligned first by the ends of matched
 * calls. VP_ENOMEM. */
int balance_make(vp_report *r);

#endif
