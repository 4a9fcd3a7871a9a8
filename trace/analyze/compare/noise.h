/* Difference between two medians that chance explains (docs/reference/metrics.md#comparison). Pure
 * functions. */
#ifndef VP_ANALYZE_NOISE_H
#define VP_ANALYZE_NOISE_H

#include <stddef.h>

/* One side: the number of values, the sum of squares of their deviations, and from how many means
 * these are; 0: one. */
typedef struct noise_side {
    size_t n;
    double squares;
    size_t means;
} noise_side;

/* A difference of the medians of a and b, in the values' unit, that chance exceeds as rarely as
 * three standard errors (two-sided, 0.27 %), by Student's t of the pooled deviation. The standard
 * error of a median is √(π/2) that of a mean. Infinite below two degrees of freedom. */
double noise_of_medians(noise_side a, noise_side b);
/* The same for values that are medians of captures, at one in 126 (two-sided), with the standard
 * error of a median of so few. */
double noise_of_captures(noise_side a, noise_side b);

#endif
