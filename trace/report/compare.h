/* What the formats of a comparison share. Only trace/report/ includes this. */
#ifndef VP_REPORT_COMPARE_H
#define VP_REPORT_COMPARE_H

#include "trace/report/parts.h"

bool rep_moved(const vp_comparison *c, const vp_compared_op *op); /* above the noise */
bool rep_has_backward(const vp_comparison *c); /* scopes with work going back, or done again */
double rep_flop_time_ratio(const vp_compared_op *op); /* of the time per FLOP, B / A; NaN */
/* "+1.234", "-0.500", "0.000"; "-" when unknown. */
int rep_put_delta(vp_buf *b, const vp_delta *d, vp_unit unit);
/* "10", "3.3" of a span; "-" when unknown. */
int rep_put_calls(vp_buf *b, double calls);
/* "+12.3%" of A; "new", "gone", "-" where A or B is nothing. */
int rep_put_change(vp_buf *b, const vp_delta *d);
/* The device that a waterfall is drawn for: the one that changed most; device_count without any. */
size_t rep_compare_worst(const vp_comparison *c);
/* The four classes of a device's window, in the order of REP_PARTS. */
void rep_compare_parts(const vp_delta *out[REP_PARTS], const vp_compared_device *d);
int64_t rep_delta_size(const vp_delta *d); /* |delta|; 0 when unknown */

#endif
