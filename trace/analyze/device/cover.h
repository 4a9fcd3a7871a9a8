/* When something of certain classes ran on a device, as a plain value that answers in logarithmic
 * time how much of an interval was covered. Exposed times are computed with it. Only analyze/
 * includes this. */
#ifndef VP_ANALYZE_COVER_H
#define VP_ANALYZE_COVER_H

#include "trace/analyze/device/sweep.h"

typedef struct cover {
    spans when;
    int64_t *before; /* covered time before when.v[i] */
} cover;

/* Everything of the classes in `mask` (SWEEP_COVER bits). Free it also on failure. */
int cover_build(cover *c, track_set set, const uint8_t *class_of, unsigned mask);
void cover_free(cover *c);
/* |[start, end) ∩ c| */
int64_t cover_length(const cover *c, int64_t start, int64_t end);

#endif
