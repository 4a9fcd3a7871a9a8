/* Percentiles, sorting and spread of int64 values, without floating point if the result is one of
 * the values. The caller owns the values. */
#ifndef VP_ANALYZE_ORDER_STATISTICS_H
#define VP_ANALYZE_ORDER_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/* The k-th smallest (0-based) of n values, reordering them: those before v[k] are not greater,
 * those after it not less. Expected O(n). */
int64_t select_kth(int64_t *v, size_t n, size_t k);
/* Sorts ascending by merging existing runs: O(n log runs). Times of a few streams, one stream after
 * another, are as many runs. */
int sort_runs(int64_t *v, size_t n);
/* Sorts ascending by the bits in which the values differ: O(n). VP_ENOMEM leaves them unchanged. */
int sort_values(int64_t *v, size_t n);
/* 0-based index of the p-th percentile (0 < p <= 100) of n values by nearest rank. */
size_t nearest_rank(size_t n, unsigned percent);

/* Population standard deviation; n > 0. */
double deviation_of(const int64_t *v, size_t n);

#endif
