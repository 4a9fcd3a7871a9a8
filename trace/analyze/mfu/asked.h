/* MFU from the model size, if the user passes parameters and tokens: 6 x parameters x tokens, for
 * training. Reported in addition to the FLOP of ops (HFU). */
#ifndef VP_ANALYZE_ASKED_H
#define VP_ANALYZE_ASKED_H

#include "include/view_profile.h"

/* Sets asked_flops and asked_window_ps of each device that computes. If parameters or tokens are 0,
 * nothing changes. */
void mfu_ask(vp_report *r, double params, double tokens);

#endif
