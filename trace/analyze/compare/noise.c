#include "trace/analyze/compare/noise.h"

#include <math.h>

/* By how many standard errors a difference must exceed 0 to be as rare by chance as 3 of them are
 * where the deviation is known (two-sided, 0.27 %). The deviation is estimated here: Student's t at
 * 0.99865 with so many degrees of freedom. The table begins at 2 degrees. */
static double errors_for(size_t freedom)
{
    static const double t[] = {19.21, 9.22, 6.62, 5.51, 4.90, 4.53, 4.28, 4.09,
                               3.96,  3.85, 3.76, 3.69, 3.64, 3.59, 3.54, 3.51,
                               3.48,  3.45, 3.42, 3.40, 3.38, 3.36, 3.34};
    size_t n = sizeof t / sizeof *t;
    if (freedom < 2)
        return INFINITY;
    return freedom - 2 < n ? t[freedom - 2] : freedom < 60 ? 3.33 : 3.12;
}

/* Pooled standard error of a difference of means, times √(π/2) = 1.2533, by which that of a median
 * is larger for normally distributed values. */
double noise_of_medians(noise_side a, noise_side b)
{
    size_t freedom = a.n + b.n < 2 ? 0 : a.n + b.n - 2;
    double square = (a.squares + b.squares) / (double)freedom * (1 / (double)a.n + 1 / (double)b.n);
    return freedom < 2 ? INFINITY : 1.2533 * errors_for(freedom) * sqrt(square);
}
