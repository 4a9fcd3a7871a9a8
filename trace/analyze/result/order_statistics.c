#include "trace/analyze/result/order_statistics.h"

#include <math.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/radix.h"

/* Moves the values of v[low, high) that are below the bound to the start. Returns the start of the
 * others. It has no branch on values, because their order is unpredictable. */
static size_t partition_below(int64_t *v, size_t low, size_t high, int64_t bound)
{
    for (size_t i = low; i < high; i++) {
        int64_t x = v[i];
        v[i] = v[low];
        v[low] = x;
        low += x < bound;
    }
    return low;
}

/* Quickselect with a pseudo-random pivot, so that no input order is slow. Values equal to the
 * pivot, common in profiles, are separated, too. */
int64_t select_kth(int64_t *v, size_t n, size_t k)
{
    size_t low = 0, high = n;
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15) ^ n;
    while (high - low > 1) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        int64_t pivot = v[low + random % (high - low)];
        size_t less = partition_below(v, low, high, pivot);
        if (k < less) {
            high = less;
            continue;
        }
        low = pivot < INT64_MAX ? partition_below(v, less, high, pivot + 1) : high;
        if (k < low)
            return pivot;
    }
    return v[low];
}

/* ceil(n · percent / 100) − 1, computed so that n · percent cannot overflow. */
size_t nearest_rank(size_t n, unsigned percent)
{
    size_t rank = (n / 100) * percent + ((n % 100) * percent + 99) / 100;
    return rank ? rank - 1 : 0;
}

/* Merges the two ascending runs [0, mid) and [mid, n) of v into out. */
static void merge_ascending_runs(int64_t *out, const int64_t *v, size_t mid, size_t n)
{
    size_t i = 0, k = mid;
    for (size_t o = 0; o < n; o++)
        out[o] = k == n || (i < mid && v[i] <= v[k]) ? v[i++] : v[k++];
}

static size_t run_end(const int64_t *v, size_t at, size_t n)
{
    for (at++; at < n && v[at - 1] <= v[at]; at++)
        ;
    return at;
}

/* Merges each pair of adjacent runs of v into out. true: only one run was left. */
static bool merge_pairs(int64_t *out, const int64_t *v, size_t n)
{
    size_t at = 0, pairs = 0;
    for (; at < n; pairs++) {
        size_t mid = run_end(v, at, n), end = mid < n ? run_end(v, mid, n) : n;
        merge_ascending_runs(out + at, v + at, mid - at, end - at);
        at = end;
    }
    return pairs <= 1;
}

int sort_runs(int64_t *v, size_t n)
{
    if (!n || run_end(v, 0, n) == n)
        return 0;
    VP_CLEANUP(vp_free_ptr) int64_t *other = vp_realloc_array(NULL, n, sizeof *other);
    int64_t *from = v, *to = other;
    VP_NEED(other);
    for (bool sorted = false; !sorted;) {
        sorted = merge_pairs(to, from, n);
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != v)
        memcpy(v, from, n * sizeof *v);
    return 0;
}

/* Sorts differences to the minimum, which is added again afterwards. */
int sort_values(int64_t *v, size_t n)
{
    int64_t least = n ? v[0] : 0, most = least;
    for (size_t i = 1; i < n; i++) {
        least = v[i] < least ? v[i] : least;
        most = v[i] > most ? v[i] : most;
    }
    if (least == most)
        return 0;
    VP_CLEANUP(vp_free_ptr) uint64_t *room = vp_realloc_array(NULL, n, sizeof *room);
    VP_NEED(room);
    uint64_t *above = (uint64_t *)v;
    for (size_t i = 0; i < n; i++)
        above[i] -= (uint64_t)least;
    const uint64_t *sorted =
        vp_radix_sort(above, room, n, 0, vp_bits_of((uint64_t)most - (uint64_t)least));
    for (size_t i = 0; i < n; i++)
        above[i] = sorted[i] + (uint64_t)least;
    return 0;
}

/* Population standard deviation by n Σd² − (Σd)², exact in 128 bits (10^9 calls of an hour each),
 * so that the order of events does not matter; beyond that in long double. */
double deviation_of(const int64_t *d, size_t n)
{
    unsigned __int128 squares = 0, sum = 0, scaled;
    bool exact = true;
    for (size_t i = 0; i < n; i++) {
        unsigned __int128 x = (unsigned __int128)d[i];
        sum += x;
        exact = exact && !__builtin_add_overflow(squares, x * x, &squares);
    }
    exact = exact && sum < (unsigned __int128)1 << 63 &&
            !__builtin_mul_overflow(squares, (unsigned __int128)n, &scaled);
    if (exact)
        return (double)(sqrtl((long double)(scaled - sum * sum)) / (long double)n);
    long double mean = (long double)sum / (long double)n, variance = 0;
    for (size_t i = 0; i < n; i++)
        variance += ((long double)d[i] - mean) * ((long double)d[i] - mean);
    return (double)sqrtl(variance / (long double)n);
}
