#include "trace/base/radix.h"

#define DIGIT 11
#define BUCKETS (1u << DIGIT)
#define DIGITS_MAX 6u /* for 64 bits */

/* Counts every value of every digit in one pass. */
static void count_digits(uint32_t (*counts)[BUCKETS], const uint64_t *v, size_t n, unsigned low,
                         unsigned bits)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t key = v[i] >> low;
        for (unsigned d = 0; d * DIGIT < bits; d++, key >>= DIGIT)
            counts[d][key & (BUCKETS - 1)]++;
    }
}

static void radix_scatter_pass(uint64_t *to, const uint64_t *from, size_t n, unsigned shift,
                               uint32_t *at)
{
    uint32_t sum = 0;
    for (size_t b = 0; b < BUCKETS; b++) {
        uint32_t count = at[b];
        at[b] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[at[from[i] >> shift & (BUCKETS - 1)]++] = from[i];
}

uint64_t *vp_radix_sort(uint64_t *from, uint64_t *to, size_t n, unsigned low, unsigned high)
{
    uint32_t counts[DIGITS_MAX][BUCKETS] = {0};
    if (low >= high)
        return from;
    count_digits(counts, from, n, low, high - low);
    for (unsigned shift = low, d = 0; shift < high; shift += DIGIT, d++) {
        radix_scatter_pass(to, from, n, shift, counts[d]);
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    return from;
}
