/* The rank test of two samples (Mann and Whitney 1947) as an interval of shifts
 * (docs/reference/metrics.md#rank-test). Pure functions of sorted values, all at least 0. It makes
 * no assumption about the distributions, so single slow values do not hide a shift. */
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

/* The maximum number of pairs that may contradict a shift: the largest u with P(U <= u) at most
 * 0.135% (0.27% two-sided). If no u has that, 0, provided that its probability is at most 1/252.
 * -1: too few values. ties: Σ (t³ − t) over the groups of t equal values in both samples. */
int64_t rank_critical(size_t n, size_t m, double ties);
/* The interval of the shift from a to b with that confidence: *low to *high. false: too few values.
 */
bool rank_shift(int64_t *low, int64_t *high, rank_sample a, rank_sample b);

#endif
