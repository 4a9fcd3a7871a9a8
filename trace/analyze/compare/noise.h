/* Difference between two medians that chance explains (docs/reference/metrics.md#comparison). Pure
 * functions. */
#ifndef VP_ANALYZE_NOISE_H
#define VP_ANALYZE_NOISE_H

#include <stddef.h>

/* One side: the number of values, the sum of the squares of their deviations, and the number of
 * groups whose means were subtracted; 0: one. */
typedef struct noise_side {
    size_t n;
    double squares;
    size_t means;
} noise_side;

/* The difference between the medians of a and b, in the unit of the values, that chance exceeds
 * with the probability of three standard errors (two-sided, 0.27%), by Student's t of the pooled
 * deviation. The standard error of a median is √(π/2) times that of a mean. Infinite below two
 * degrees of freedom. */
double noise_of_medians(noise_side a, noise_side b);
/* The same for values that are medians of captures, with the probability 1/126 (two-sided) and the
 * standard error of the median of so few values. */
double noise_of_captures(noise_side a, noise_side b);

#endif
