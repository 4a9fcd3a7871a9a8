/* Lookups in a report that several modules need. Nothing is owned. */
#ifndef VP_ANALYZE_LOOK_UP_H
#define VP_ANALYZE_LOOK_UP_H

#include "include/view_profile.h"

/* True if any device has a peak, which cells need. */
bool result_has_peak(const vp_report *r);
/* The row of a device in a step (s->device: its critical one); NULL: none. Owned by the step. */
vp_step_device *result_step_device(const vp_step *s, uint32_t device);
/* The median sum of all complete steps as a share of the time that devices work. If it is below
 * STEPS_APART, the steps do not contain the work: the program launches it and continues, the
 * profile does not show which step it belongs to, and durations of steps are those of launching.
 * Needs complete steps. */
double result_steps_share(const vp_steps *s, const vp_device *devices, size_t n);
#define STEPS_APART 0.1

#endif
