/* Lookups in a report that several modules need. Nothing is owned. */
#ifndef VP_ANALYZE_LOOK_UP_H
#define VP_ANALYZE_LOOK_UP_H

#include "include/view_profile.h"

/* Whether any device has a peak, against which cells are told. */
bool result_has_peak(const vp_report *r);
/* What a step has of a device (s->device: of its critical one); NULL: nothing. The step's own. */
vp_step_device *result_step_device(const vp_step *s, uint32_t device);
/* What all steps that count take at their median, as a share of the time that the devices work. If
 * it is below STEPS_APART, the steps lie apart from the work: the program hands it out and goes on,
 * nothing in the profile tells which step it is of, and the steps' lengths are those of handing it
 * out. Asked where there are steps that count. */
double result_steps_share(const vp_steps *s, const vp_device *devices, size_t n);
#define STEPS_APART 0.1

#endif
