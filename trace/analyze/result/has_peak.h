/* Whether a report knows what its devices could do at best. Included by analyze/'s rooms and by the
 * report's. */
#ifndef VP_ANALYZE_HAS_PEAK_H
#define VP_ANALYZE_HAS_PEAK_H

#include "include/view_profile.h"

/* Whether any device has a peak, against which cells are told. */
bool result_has_peak(const vp_report *r);

#endif
