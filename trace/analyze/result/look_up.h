/* What several rooms look up in a report. Included by analyze/'s rooms and by the report's. */
#ifndef VP_ANALYZE_LOOK_UP_H
#define VP_ANALYZE_LOOK_UP_H

#include "include/view_profile.h"

/* Whether any device has a peak, against which cells are told. */
bool result_has_peak(const vp_report *r);
/* What a step has of a device (s->device: of its critical one); NULL: nothing. The step's own. */
vp_step_device *result_step_device(const vp_step *s, uint32_t device);

#endif
