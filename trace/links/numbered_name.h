/* Names of steps: "ProfilerStep#12" and "train_step 12" name the same place in every step. */
#ifndef VP_LINKS_NUMBERED_NAME_H
#define VP_LINKS_NUMBERED_NAME_H

#include "trace/base/str.h"

/* The name without a final number that '#' or ' ' separates from it. */
vp_str links_without_step_number(vp_str name);

#endif
