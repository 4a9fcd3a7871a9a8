#include "trace/analyze/steps/steps_judge.h"

#include <math.h>
#include <stdlib.h>

#include "trace/analyze/result/order_statistics.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* More than there can be: durations from 1 ps to 2^62 ps, each 10 % above the one before, are at
 * most ln 2^62 / ln 1.1 + 1 = 452 groups. */
#define SEGMENTS_MAX 512
#define ENOUGH_STEPS 5 /* to call one of them an outlier */

double steps_robust_z(const vp_steps *s, int64_t dur_ps)
{
    int64_t mad = s->mad_ps > s->median_ps / 1000 ? s->mad_ps : s->median_ps / 1000;
    return s->counted > 0 && mad > 0 ? (double)(dur_ps - s->median_ps) / (1.4826 * (double)mad) : 0;
}

bool steps_slow(const vp_steps *s, int64_t dur_ps)
{
    return s->counted >= ENOUGH_STEPS && dur_ps > s->median_ps &&
           (dur_ps - s->median_ps > s->median_ps || steps_robust_z(s, dur_ps) > 10);
}

static bool is_full_step(const vp_step *x)
{
    return !x->partial && !x->warm_up;
}

static int64_t *counted_durations(const vp_steps *s, size_t *n)
{
    int64_t *v = vp_calloc(s->count + 1, sizeof *v);
    *n = 0;
    for (size_t i = 0; v && i < s->count; i++)
        if (is_full_step(&s->list[i]))
            v[(*n)++] = s->list[i].dur_ps;
    return v;
}

/* Reorders the values. */
static void median_and_mad(vp_steps *s, int64_t *v, size_t n)
{
    s->counted = (int64_t)n;
    if (!n)
        return;
    s->median_ps = select_kth(v, n, nearest_rank(n, 50));
    for (size_t i = 0; i < n; i++)
        v[i] = v[i] > s->median_ps ? v[i] - s->median_ps : s->median_ps - v[i];
    s->mad_ps = select_kth(v, n, nearest_rank(n, 50));
}

static void mark_warm_up(vp_steps *s, int64_t *v, size_t n)
{
    median_and_mad(s, v, n);
    s->list[0].warm_up = !s->list[0].partial && steps_slow(s, s->list[0].dur_ps);
}

/* Mean, excess and CV of sorted values (docs/reference/metrics.md#step-statistics): excess is Σ
 * max(0, x − median), CV the population deviation over the mean. Sums are in 128 bits, so exact
 * whatever the order. */
static void set_step_moments(vp_steps *s, const int64_t *v, size_t n)
{
    __int128 sum = 0, excess = 0;
    long double squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += v[i];
        excess += v[i] > s->median_ps ? v[i] - s->median_ps : 0;
    }
    s->excess_ps = excess < INT64_MAX ? (int64_t)excess : INT64_MAX;
    long double mean = (long double)sum / (long double)n;
    for (size_t i = 0; i < n; i++)
        squares += ((long double)v[i] - mean) * ((long double)v[i] - mean);
    s->mean_ps = (int64_t)((sum + (__int128)n / 2) / (__int128)n);
    s->cv = mean > 0 ? (double)(sqrtl(squares / (long double)n) / mean) : 0;
}

static void set_step_statistics(vp_steps *s, const int64_t *sorted, size_t n)
{
    s->min_ps = sorted[0];
    s->max_ps = sorted[n - 1];
    s->p90_ps = sorted[nearest_rank(n, 90)];
    s->p95_ps = sorted[nearest_rank(n, 95)];
    set_step_moments(s, sorted, n);
}

/* Durations [from, to) of the sorted ones, which lie together. */
typedef struct segment {
    size_t from, to;
} segment;

typedef struct segments {
    segment v[SEGMENTS_MAX];
    size_t n;
} segments;

/* From the 10th to the 90th percentile. */
static int64_t segment_spread(const int64_t *x, segment s)
{
    size_t n = s.to - s.from;
    return x[s.from + nearest_rank(n, 90)] - x[s.from + nearest_rank(n, 10)];
}

/* At least 10 % between two durations. */
static bool is_gap(int64_t below, int64_t above)
{
    return above - below > below / 10;
}

/* Whether two segments stay apart: the gap between them is at least twice the spread of either. */
static bool segments_apart(const int64_t *x, segment a, segment b)
{
    int64_t gap = (x[b.from] - x[a.to - 1]) / 2;
    return is_gap(x[a.to - 1], x[b.from]) && gap >= segment_spread(x, a) &&
           gap >= segment_spread(x, b);
}

/* Cuts at every gap. What has too few members for a group is an outlier, and in none. */
static void cut_at_gaps(segments *out, const int64_t *x, size_t n)
{
    size_t from = 0, least = n > 20 ? 3 : 2;
    for (size_t i = 1; i <= n; i++) {
        if (i < n && !is_gap(x[i - 1], x[i]))
            continue;
        if (i - from >= least && out->n < SEGMENTS_MAX)
            out->v[out->n++] = (segment){from, i};
        from = i;
    }
}

static void join_near(segments *s, const int64_t *x)
{
    for (size_t i = 0; i + 1 < s->n;) {
        if (segments_apart(x, s->v[i], s->v[i + 1])) {
            i++;
            continue;
        }
        s->v[i].to = s->v[i + 1].to;
        for (size_t k = i + 1; k + 1 < s->n; k++)
            s->v[k] = s->v[k + 1];
        s->n--;
        i -= i > 0; /* it is wider now, so the gap before it is judged again */
    }
}

static size_t count_segment_members(const segments *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += s->v[i].to - s->v[i].from;
    return n;
}

static size_t largest_segment(const segments *s)
{
    size_t best = 0;
    for (size_t i = 1; i < s->n; i++)
        if (s->v[i].to - s->v[i].from > s->v[best].to - s->v[best].from)
            best = i;
    return best;
}

/* Names the members of a group and what they have in common. */
static void fill_group(vp_step_group *g, vp_steps *s, int64_t least, int64_t most)
{
    size_t last = 0;
    int64_t away = INT64_MAX;
    bool regular = true;
    for (size_t i = 0; i < s->count; i++) {
        vp_step *x = &s->list[i];
        if (!is_full_step(x) || x->dur_ps < least || x->dur_ps > most)
            continue;
        x->step_class = g->step_class;
        g->total_ps += x->dur_ps;
        if (llabs(x->dur_ps - g->median_ps) < away) {
            away = llabs(x->dur_ps - g->median_ps);
            g->example = x->number;
        }
        if (g->count == 1)
            g->period = (int64_t)(i - last);
        regular = regular && (g->count < 1 || g->period == (int64_t)(i - last));
        last = i;
        g->count++;
    }
    if (!regular || g->count < 3)
        g->period = VP_UNKNOWN;
}

static int make_duration_groups(vp_steps *s, const int64_t *x, size_t n, vp_arena *arena)
{
    segments found = {.n = 0};
    if (n < 6)
        return 0;
    cut_at_gaps(&found, x, n);
    join_near(&found, x);
    if (found.n < 2 || count_segment_members(&found) < n - n / 10)
        return 0;
    vp_step_group *v = vp_arena_zalloc(arena, found.n * sizeof *v);
    VP_NEED(v);
    size_t normal = largest_segment(&found);
    for (size_t i = 0; i < found.n; i++) {
        segment g = found.v[i];
        v[i].step_class = i == normal ? VP_STEP_NORMAL : i < normal ? VP_STEP_LIGHT : VP_STEP_HEAVY;
        v[i].median_ps = x[g.from + nearest_rank(g.to - g.from, 50)];
        v[i].example = v[i].period = VP_UNKNOWN;
        fill_group(&v[i], s, x[g.from], x[g.to - 1]);
    }
    s->groups = v;
    s->group_count = found.n;
    return 0;
}

static void clear_step_statistics(vp_steps *s)
{
    s->counted = s->median_ps = s->p90_ps = s->p95_ps = s->mad_ps = VP_UNKNOWN;
    s->mean_ps = s->min_ps = s->max_ps = s->excess_ps = VP_UNKNOWN;
    s->cv = 0;
    s->groups = NULL;
    s->group_count = 0;
    for (size_t i = 0; i < s->count; i++) {
        s->list[i].warm_up = false;
        s->list[i].step_class = VP_STEP_NORMAL;
    }
}

int steps_judge(vp_steps *s, vp_arena *arena)
{
    size_t n;
    clear_step_statistics(s);
    if (!s->count)
        return 0;
    VP_CLEANUP(vp_free_ptr) int64_t *v = counted_durations(s, &n);
    VP_NEED(v);
    mark_warm_up(s, v, n);
    VP_CLEANUP(vp_free_ptr) int64_t *sorted = counted_durations(s, &n);
    VP_NEED(sorted);
    VP_TRY(sort_values(sorted, n));
    for (size_t i = 0; i < n; i++)
        v[i] = sorted[i];
    median_and_mad(s, v, n);
    if (!n)
        return 0;
    set_step_statistics(s, sorted, n);
    return make_duration_groups(s, sorted, n, arena);
}
