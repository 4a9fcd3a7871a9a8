#include "trace/analyze/compare/rank_test.h"

#include <math.h>

/* Up to this number of values in both samples all outcomes are counted: C(60, 30) fits in 64 bits.
 */
#define EXACT_MAX 60
/* P(U <= u) must be at most 27/20,000. If no outcome is as rare, the limit is 1/252, which is that
 * of five values that are all longer than five others. */
#define TAIL_OF 20000
#define TAIL 27
#define RAREST_OF 252
/* The quantile of the normal distribution at 1 − 27/20,000. */
#define TAIL_DEVIATIONS 3.0

/* ---- The distribution of U, the number of pairs in which b is shorter than a ---- */

/* Coefficients of the Gaussian binomial (n + m over n): the number of orders of n + m values in
 * which U is u. Arithmetic modulo 2⁶⁴ is exact, because the results fit. */
static void count_rank_orders(uint64_t *ways, size_t top, size_t n, size_t m)
{
    for (size_t u = 0; u <= top; u++)
        ways[u] = u == 0;
    for (size_t i = 1; i <= n; i++) {
        for (size_t u = top; u >= m + i; u--)
            ways[u] -= ways[u - (m + i)];
        for (size_t u = i; u <= top; u++)
            ways[u] += ways[u - i];
    }
}

static int64_t exact_rank_critical(size_t n, size_t m)
{
    uint64_t ways[EXACT_MAX * EXACT_MAX / 8 + 1], orders = 1, below = 0;
    size_t top = n * m / 2;
    int64_t u = -1;
    count_rank_orders(ways, top, n, m);
    for (size_t i = 1; i <= n; i++)
        orders = orders * (m + i) / i;
    for (size_t k = 0; k <= top; k++) {
        below += ways[k];
        if ((__int128)below * TAIL_OF > (__int128)orders * TAIL)
            break;
        u = (int64_t)k;
    }
    return u < 0 && orders >= RAREST_OF ? 0 : u;
}

/* The normal approximation with corrections for ties and for continuity. */
static int64_t normal_rank_critical(double n, double m, double ties)
{
    double all = n + m, variance = n * m / 12 * (all + 1 - ties / (all * (all - 1)));
    double u = (n * m - 1) / 2 - TAIL_DEVIATIONS * sqrt(variance > 0 ? variance : 0);
    return u < 0 ? -1 : (int64_t)u;
}

int64_t rank_critical(size_t n, size_t m, double ties)
{
    if (!n || !m)
        return -1;
    return n + m <= EXACT_MAX ? exact_rank_critical(n, m)
                              : normal_rank_critical((double)n, (double)m, ties);
}

/* ---- Shifts ---- */

static double count_rank_ties(rank_sample a, rank_sample b)
{
    double ties = 0;
    size_t i = 0, k = 0;
    while (i < a.n || k < b.n) {
        int64_t v = k == b.n || (i < a.n && a.v[i] <= b.v[k]) ? a.v[i] : b.v[k];
        size_t from = i + k;
        while (i < a.n && a.v[i] == v)
            i++;
        while (k < b.n && b.v[k] == v)
            k++;
        double t = (double)(i + k - from);
        ties += t * t * t - t;
    }
    return ties;
}

/* The number of pairs with b − a <= shift. */
static uint64_t pairs_up_to(rank_sample a, rank_sample b, __int128 shift)
{
    uint64_t pairs = 0;
    size_t below = 0;
    for (size_t k = 0; k < b.n; k++) {
        while (below < a.n && (__int128)b.v[k] - a.v[below] > shift)
            below++;
        pairs += a.n - below;
    }
    return pairs;
}

/* The difference b − a with exactly `rank` smaller pairs, searched by value: O((n + m) log). */
static int64_t pair_at(rank_sample a, rank_sample b, uint64_t rank)
{
    __int128 low = (__int128)b.v[0] - a.v[a.n - 1], high = (__int128)b.v[b.n - 1] - a.v[0];
    while (low < high) {
        __int128 middle = low + ((high - low) >> 1);
        if (pairs_up_to(a, b, middle) > rank)
            high = middle;
        else
            low = middle + 1;
    }
    return (int64_t)low;
}

bool rank_shift(int64_t *low, int64_t *high, rank_sample a, rank_sample b)
{
    int64_t u = a.n + b.n > EXACT_MAX ? rank_critical(a.n, b.n, count_rank_ties(a, b))
                                      : rank_critical(a.n, b.n, 0);
    if (u < 0)
        return false;
    *low = pair_at(a, b, (uint64_t)u);
    *high = pair_at(a, b, (uint64_t)a.n * b.n - 1 - (uint64_t)u);
    return true;
}
