#include "trace/analyze/compare/noise.h"

#include <math.h>

/* Quantiles of Student's t. Each table begins at 2 degrees of freedom; below that nothing is
 * significant. `more` and `many`: from the end of the table, and from 60 degrees on. */
typedef struct t_quantiles {
    const double *v;
    size_t n;
    double more, many;
} t_quantiles;

/* At 0.99865: the probability of 3 standard errors for a known deviation (two-sided, 0.27%). */
static const double t_of_steps[] = {19.21, 9.22, 6.62, 5.51, 4.90, 4.53, 4.28, 4.09,
                                    3.96,  3.85, 3.76, 3.69, 3.64, 3.59, 3.54, 3.51,
                                    3.48,  3.45, 3.42, 3.40, 3.38, 3.36, 3.34};
/* At 251/252: the level of five captures that are all longer than five others. */
static const double t_of_captures[] = {11.16, 6.34, 4.92, 4.27, 3.91, 3.68, 3.52, 3.40,
                                       3.31,  3.24, 3.18, 3.14, 3.10, 3.06, 3.04, 3.01};

static double quantile_of(const t_quantiles *t, size_t freedom)
{
    if (freedom < 2)
        return INFINITY;
    return freedom - 2 < t->n ? t->v[freedom - 2] : freedom < 60 ? t->more : t->many;
}

static double pooled_variance(const noise_side *a, const noise_side *b, size_t freedom)
{
    return (a->squares + b->squares) / (double)freedom;
}

static size_t means_of(const noise_side *s)
{
    return s->means ? s->means : 1;
}

double noise_of_medians(noise_side a, noise_side b)
{
    static const t_quantiles t = {t_of_steps, sizeof t_of_steps / sizeof *t_of_steps, 3.33, 3.12};
    size_t means = means_of(&a) + means_of(&b), freedom = a.n + b.n < means ? 0 : a.n + b.n - means;
    if (freedom < 2)
        return INFINITY;
    double square = pooled_variance(&a, &b, freedom) * (1 / (double)a.n + 1 / (double)b.n);
    return 1.2533 * quantile_of(&t, freedom) * sqrt(square);
}

/* The variance of the median of n normally distributed values, relative to that of one value: 0.449
 * for three, π/2n for many. */
static double median_variance(size_t n)
{
    return n < 3 ? 1 / (double)n : n == 3 ? 0.449 : 1.5708 / (double)n;
}

double noise_of_captures(noise_side a, noise_side b)
{
    static const t_quantiles t = {t_of_captures, sizeof t_of_captures / sizeof *t_of_captures, 2.99,
                                  2.75};
    size_t freedom = a.n + b.n < 2 ? 0 : a.n + b.n - 2;
    if (freedom < 2 || !a.n || !b.n)
        return INFINITY;
    double square =
        pooled_variance(&a, &b, freedom) * (median_variance(a.n) + median_variance(b.n));
    return quantile_of(&t, freedom) * sqrt(square);
}
