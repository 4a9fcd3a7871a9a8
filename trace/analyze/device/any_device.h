/* Times at which any device of the host is busy, and at which all are idle, on the aligned clock.
 * Several analyses on separate threads need it; the first one computes it. host_analysis.c owns it;
 * the spans belong to the analysis. */
#ifndef VP_ANALYZE_ANY_DEVICE_H
#define VP_ANALYZE_ANY_DEVICE_H

#include "trace/analyze/device/sweep.h"

/* a->any_device. VP_ENOMEM. */
int any_device_new(analysis *a);
void any_device_free(analysis *a);
/* *out: the union of all ops of all devices. VP_ENOMEM, VP_ELIMIT. */
int any_device_busy(const spans **out, const analysis *a);
/* *out: the intersection of their gaps. A device is idle before its first op and after its last.
 * VP_ENOMEM, VP_ELIMIT. */
int any_device_idle(const spans **out, const analysis *a);

#endif
