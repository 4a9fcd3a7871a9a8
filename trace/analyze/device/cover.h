/* Times at which ops of given classes ran on a device, with queries for the covered part of an
 * interval. A query takes logarithmic time, or constant time near the previous one. Exposed times
 * are computed with it. Not thread-safe; the caller frees it. */
#ifndef VP_ANALYZE_COVER_H
#define VP_ANALYZE_COVER_H

#include "trace/analyze/device/sweep.h"

typedef struct cover {
    spans when;
    int64_t *before; /* covered time before when.v[i] */
    size_t last;     /* index of the last result, at which the next search starts */
} cover;

/* Collects the ops of the classes in `mask` (SWEEP_COVER bits). Free it also on failure. */
int cover_build(cover *c, track_set set, const uint8_t *class_of, unsigned mask);
void cover_free(cover *c);
/* |[start, end) ∩ c| */
int64_t cover_length(cover *c, int64_t start, int64_t end);

#endif
