#include "trace/capture/plan/step_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With fewer steps there is no typical duration yet: the first ones compile and warm up caches. */
#define STEPS_BEFORE_SLOW 16u
/* After a reported slow step, only slower ones are reported for this time: otherwise a program that
 * stays slow would report every step. */
#define SLOW_REST_NS (INT64_C(60) * 1000000000)

/* Buckets 0 to 15 contain one duration each; from 16 ns on a bucket is the highest bit and the
 * three bits below it. */
static unsigned bucket_of(uint64_t ns)
{
    if (ns < 16)
        return (unsigned)ns;
    unsigned top = 63u - (unsigned)__builtin_clzll(ns);
    return (top - 2) * 8 + (unsigned)(ns >> (top - 3) & 7);
}

static double middle_of_bucket(unsigned bucket)
{
    if (bucket < 16)
        return bucket;
    unsigned top = bucket / 8 + 2;
    double width = ldexp(1, (int)top - 3);
    return ldexp(1, (int)top) + width * (bucket % 8) + width / 2;
}

void step_stats_add(step_stats *s, uint64_t ns)
{
    s->last_ns[s->paced++ % STEP_STATS_LAST] = ns;
    step_stats_add_other(s, ns);
}

void step_stats_add_other(step_stats *s, uint64_t ns)
{
    double seconds = (double)ns / 1e9;
    s->count++;
    double off = seconds - s->mean;
    s->mean += off / (double)s->count;
    s->m2 += off * (seconds - s->mean);
    s->buckets[bucket_of(ns)]++;
}

double step_stats_stddev(const step_stats *s)
{
    return s->count ? sqrt(s->m2 / (double)s->count) : 0;
}

double step_stats_median(const step_stats *s)
{
    uint64_t seen = 0;
    for (unsigned i = 0; i < STEP_STATS_BUCKETS; i++) {
        seen += s->buckets[i];
        if (s->buckets[i] && seen * 2 >= s->count)
            return middle_of_bucket(i) / 1e9;
    }
    return 0;
}

static int by_step_length(const void *pa, const void *pb)
{
    uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
    return a < b ? -1 : a > b;
}

uint64_t step_stats_recent_median_ns(const step_stats *s)
{
    uint64_t sorted[STEP_STATS_LAST];
    size_t n = s->paced < STEP_STATS_LAST ? (size_t)s->paced : STEP_STATS_LAST;
    if (!n)
        return 0;
    memcpy(sorted, s->last_ns, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_step_length);
    return sorted[(n - 1) / 2];
}

static bool is_resting(const step_stats *s, int64_t now_ns)
{
    return s->slow_told && now_ns - s->slow_ns < SLOW_REST_NS;
}

step_pace step_stats_pace(const step_stats *s, uint64_t ns, double ratio, int64_t now_ns)
{
    if (ratio <= 1 || s->paced < STEPS_BEFORE_SLOW ||
        (double)ns < ratio * (double)step_stats_recent_median_ns(s))
        return STEP_USUAL;
    return is_resting(s, now_ns) && ns <= s->slow_worst ? STEP_SLOW : STEP_SLOWEST;
}

void step_stats_tell_slow(step_stats *s, uint64_t ns, int64_t now_ns)
{
    if (!is_resting(s, now_ns))
        s->slow_ns = now_ns;
    s->slow_told = true;
    s->slow_worst = ns;
}

void step_stats_pass_slow(step_stats *s)
{
    s->slow_passed++;
}

uint64_t step_stats_passed(step_stats *s, int64_t now_ns)
{
    uint64_t n = is_resting(s, now_ns) ? 0 : s->slow_passed;
    s->slow_passed -= n;
    return n;
}
