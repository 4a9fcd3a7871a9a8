/* When something of certain classes ran on a device, as a plain value that answers how much of an
 * interval was covered: in logarithmic time, and at once where the last answer was near by. Exposed
 * times are computed with it. One thread at a time may ask. Only analyze/ includes this. */
#ifndef VP_ANALYZE_COVER_H
#define VP_ANALYZE_COVER_H

#include "trace/analyze/device/sweep.h"

typedef struct cover {
    spans when;
    int64_t *before; /* covered time before when.v[i] */
    size_t last;     /* where the last answer was found: the next is looked for from there */
} cover;

/* Everything of the classes in `mask` (SWEEP_COVER bits). Free it also on failure. */
int cover_build(cover *c, track_set set, const uint8_t *class_of, unsigned mask);
void cover_free(cover *c);
/* |[start, end) ∩ c| */
int64_t cover_length(cover *c, int64_t start, int64_t end);

#endif
