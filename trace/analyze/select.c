#include "trace/analyze/host.h"

static void swap(int64_t *a, int64_t *b)
{
    int64_t t = *a;
    *a = *b;
    *b = t;
}

/* Three-way quickselect with a pseudo-random pivot: equal values, common in profiles, cost one
 * pass, and no order of the input is known to be slow. */
int64_t select_kth(int64_t *v, size_t n, size_t k)
{
    size_t low = 0, high = n;
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15) ^ n;
    while (high - low > 1) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        int64_t pivot = v[low + random % (high - low)];
        size_t less = low, i = low, more = high;
        while (i < more) {
            if (v[i] < pivot)
                swap(&v[i++], &v[less++]);
            else if (v[i] > pivot)
                swap(&v[i], &v[--more]);
            else
                i++;
        }
        if (k < less)
            high = less;
        else if (k >= more)
            low = more;
        else
            return pivot;
    }
    return v[low];
}

size_t nearest_rank(size_t n, unsigned percent)
{
    size_t rank = (n / 100) * percent + ((n % 100) * percent + 99) / 100;
    return rank ? rank - 1 : 0;
}
