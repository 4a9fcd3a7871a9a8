/* The rank test of two samples (Mann and Whitney 1947) as an interval of shifts
 * (docs/reference/metrics.md#rank-test). Pure functions of sorted values from 0 on. Nothing about
 * the distributions is assumed, so single slow values do not hide a shift. */
#ifndef VP_ANALYZE_RANK_TEST_H
#define VP_ANALYZE_RANK_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A sample in ascending order. */
typedef struct rank_sample {
    const int64_t *v;
    size_t n;
} rank_sample;

/* The most pairs that may contradict a shift: the largest u with P(U <= u) at most 0.135% (0.27%
 * two-sided); or 0 if that is none, but one outcome in 252 would be rarer still. -1: too few
 * values. ties: Σ (t³ − t) over the groups of t equal values in both samples. */
int64_t rank_critical(size_t n, size_t m, double ties);
/* By how much b is longer than a, with that certainty: from *low to *high. False: too few values.
 */
bool rank_shift(int64_t *low, int64_t *high, rank_sample a, rank_sample b);

#endif
