#include "trace/analyze/compare/compare_captures.h"

#include <math.h>
#include <stdlib.h>

#include "trace/analyze/compare/noise.h"
#include "trace/analyze/compare/rank_test.h"
#include "trace/analyze/steps/steps_judge.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/order.h"

int64_t cmp_whole_window(const vp_report *r)
{
    int64_t longest = VP_UNKNOWN;
    for (size_t i = 0; i < r->device_count; i++)
        if (r->devices[i].breakdown.window_ps > longest)
            longest = r->devices[i].breakdown.window_ps;
    return longest;
}

/* From this number of steps per capture on, the spread is estimated by the median absolute
 * deviation, so that one slow step in ten does not hide a change. With fewer steps it is too
 * uncertain: with three normally distributed steps on each side, a sixth of equal pairs would
 * differ. */
#define STEPS_FOR_MAD 30

/* ---- Captures that are used ---- */

static bool capture_has_events(const vp_report *r)
{
    return r->events > 0 || r->device_count || r->steps.count || r->memory_count;
}

static bool is_repeated_capture(const compare_side *s, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (cmp_same_content(s->captures[k], s->captures[i]))
            return true;
    return false;
}

/* Captures without steps are ignored if others have some. */
static size_t choose_counted_captures(vp_compared_capture *list, const compare_side *s)
{
    bool steps = false;
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        steps = steps || cmp_has_steps(s->captures[i]);
    for (size_t i = 0; i < s->n; i++) {
        const vp_report *r = s->captures[i];
        list[i].counts =
            capture_has_events(r) && (!steps || cmp_has_steps(r)) && !is_repeated_capture(s, i);
        n += list[i].counts;
    }
    return n;
}

typedef struct capture_length {
    int64_t ps;
    size_t index;
} capture_length;

static int by_capture_length(const void *pa, const void *pb)
{
    const capture_length *a = pa, *b = pb;
    int order = vp_order(a->ps, b->ps);
    return order ? order : vp_order((int64_t)a->index, (int64_t)b->index);
}

/* The capture of the median duration; of an even number the shorter of both in the middle. */
static int choose_shown_capture(vp_compared_capture *list, const compare_side *s, size_t counted)
{
    VP_CLEANUP(vp_free_ptr) capture_length *v = vp_calloc(counted, sizeof *v);
    size_t n = 0;
    VP_NEED(v);
    for (size_t i = 0; i < s->n; i++)
        if (list[i].counts)
            v[n++] =
                (capture_length){cmp_has_steps(s->captures[i]) ? s->captures[i]->steps.median_ps
                                                               : cmp_whole_window(s->captures[i]),
                                 i};
    qsort(v, n, sizeof *v, by_capture_length);
    list[v[(n - 1) / 2].index].shown = true;
    return 0;
}

static int list_captures(vp_compared_capture **out, size_t *count, cmp_side *side, comparing *k,
                         const compare_side *s, char letter)
{
    vp_compared_capture *list = vp_arena_zalloc(k->arena, s->n * sizeof *list);
    VP_NEED(list);
    size_t counted = choose_counted_captures(list, s);
    if (!counted)
        return vp_fail(VP_EEMPTY, "%c has no events; nothing to compare", letter);
    VP_TRY(choose_shown_capture(list, s, counted));
    for (size_t i = 0; i < s->n; i++) {
        const vp_report *r = s->captures[i];
        list[i].id = cmp_text(k, r->session_id);
        list[i].name = cmp_text(k, r->session_name);
        list[i].path = cmp_text(k, r->session_path);
        list[i].steps = r->steps.counted;
        list[i].median_ps = r->steps.median_ps;
        if (list[i].shown)
            side->r = r;
    }
    *out = list;
    *count = s->n;
    return 0;
}

int cmp_captures(comparing *k)
{
    vp_comparison *c = k->c;
    VP_TRY(list_captures(&c->captures_a, &c->captures_a_count, &k->a, k, &k->given_a, 'A'));
    return list_captures(&c->captures_b, &c->captures_b_count, &k->b, k, &k->given_b, 'B');
}

bool cmp_capture_counts(const comparing *k, bool of_b, size_t i)
{
    return of_b ? k->c->captures_b[i].counts : k->c->captures_a[i].counts;
}

/* ---- The steps of a side ---- */

/* Ascending values; the caller frees them. */
typedef struct ps_list {
    int64_t *v;
    size_t n;
} ps_list;

typedef struct side_steps {
    ps_list steps, ordinary; /* of all captures that are used; without slow outliers */
    ps_list medians, p90s, typicals, means; /* one per capture */
    __int128 sum_ps;                        /* of the steps */
    noise_side spread;
    bool skewed;
} side_steps;

static int by_ps(const void *pa, const void *pb)
{
    return vp_order(*(const int64_t *)pa, *(const int64_t *)pb);
}

static int64_t median_of_list(const ps_list *l)
{
    size_t middle = l->n / 2;
    if (!l->n)
        return VP_UNKNOWN;
    return l->n % 2 ? l->v[middle] : cmp_mean((__int128)l->v[middle - 1] + l->v[middle], 2);
}

/* The group of a step: the first of its class, which is the largest. */
static const vp_step_group *group_of_step(const vp_steps *s, const vp_step *step)
{
    for (size_t i = 0; i < s->group_count; i++)
        if (s->groups[i].step_class == step->step_class)
            return &s->groups[i];
    return NULL;
}

/* The sum of squared deviations: from the CV, or for many steps from the MAD, since 1.4826 MAD is
 * the deviation of normally distributed values. Steps of named groups deviate from the median of
 * their group, because an evaluation in every fifth step is not noise. */
static double squares_of_steps(const vp_steps *s)
{
    double n = (double)s->counted, off = s->cv * (double)s->mean_ps,
           mad = 1.4826 * (double)s->mad_ps, sum = 0;
    if (s->counted >= STEPS_FOR_MAD)
        return mad * mad * (n - 1);
    if (!s->group_count)
        return off * off * n;
    for (size_t i = 0; i < s->count; i++) {
        const vp_step_group *g = group_of_step(s, &s->list[i]);
        int64_t usual = g ? g->median_ps : s->median_ps;
        double d = vp_step_counts(&s->list[i]) ? (double)(s->list[i].dur_ps - usual) : 0;
        sum += d * d;
    }
    return sum;
}

/* The mean step of regular groups: of the normal steps, and of those that recur after a fixed
 * number of steps. Without groups, the median. */
static int64_t typical_step(const vp_steps *s)
{
    __int128 sum = 0, n = 0;
    for (size_t i = 0; i < s->group_count; i++) {
        const vp_step_group *g = &s->groups[i];
        if (g->step_class != VP_STEP_NORMAL && g->period == VP_UNKNOWN)
            continue;
        sum += (__int128)g->median_ps * g->count;
        n += g->count;
    }
    return n > 0 ? cmp_mean(sum, n) : s->median_ps;
}

/* The mean of many normally distributed steps is within half a MAD of their median. */
static bool are_steps_skewed(const vp_steps *s)
{
    int64_t off = s->mean_ps - s->median_ps;
    return s->counted >= STEPS_FOR_MAD && (off < 0 ? -off : off) > s->mad_ps / 2;
}

static int alloc_side_steps(side_steps *x, size_t steps, size_t captures)
{
    ps_list *const lists[] = {&x->steps, &x->ordinary, &x->medians,
                              &x->p90s,  &x->typicals, &x->means};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        lists[i]->v = vp_calloc(i < 2 ? steps : captures, sizeof *lists[i]->v);
        VP_NEED(lists[i]->v);
    }
    return 0;
}

static void free_side_steps(side_steps *x)
{
    vp_free(x->steps.v);
    vp_free(x->ordinary.v);
    vp_free(x->medians.v);
    vp_free(x->p90s.v);
    vp_free(x->typicals.v);
    vp_free(x->means.v);
}

static void sort_ps_list(ps_list *l)
{
    qsort(l->v, l->n, sizeof *l->v, by_ps);
}

static void add_counted_step(side_steps *x, const vp_steps *of, int64_t dur_ps)
{
    x->steps.v[x->steps.n++] = dur_ps;
    x->sum_ps += dur_ps;
    if (!steps_slow(of, dur_ps))
        x->ordinary.v[x->ordinary.n++] = dur_ps;
}

/* x must be freed even after a failure. */
static int collect_side_steps(side_steps *x, const comparing *k, const compare_side *s, bool of_b)
{
    size_t steps = 0;
    *x = (side_steps){0};
    for (size_t i = 0; i < s->n; i++)
        steps += s->captures[i]->steps.count;
    VP_TRY(alloc_side_steps(x, steps, s->n));
    for (size_t i = 0; i < s->n; i++) {
        const vp_steps *of = &s->captures[i]->steps;
        if (!cmp_capture_counts(k, of_b, i))
            continue;
        for (size_t n = 0; n < of->count; n++)
            if (vp_step_counts(&of->list[n]))
                add_counted_step(x, of, of->list[n].dur_ps);
        x->medians.v[x->medians.n++] = of->median_ps;
        x->p90s.v[x->p90s.n++] = of->p90_ps;
        x->typicals.v[x->typicals.n++] = typical_step(of);
        x->means.v[x->means.n++] = of->mean_ps;
        x->spread.n += (size_t)of->counted;
        x->spread.squares += squares_of_steps(of);
        x->spread.means++;
        x->skewed = x->skewed || are_steps_skewed(of);
    }
    sort_ps_list(&x->steps);
    sort_ps_list(&x->ordinary);
    sort_ps_list(&x->medians);
    sort_ps_list(&x->p90s);
    sort_ps_list(&x->typicals);
    sort_ps_list(&x->means);
    return 0;
}

/* ---- Noise ---- */

static int64_t whole_noise(double ps)
{
    return ps < 4e18 ? (int64_t)ps + 1 : VP_UNKNOWN;
}

/* The smallest difference that the rank test does not exclude; VP_UNKNOWN: too few values. */
static int64_t noise_by_ranks(const ps_list *a, const ps_list *b, const vp_delta *d)
{
    int64_t low, high;
    if (!rank_shift(&low, &high, (rank_sample){a->v, a->n}, (rank_sample){b->v, b->n}))
        return VP_UNKNOWN;
    __int128 noise = d->delta_ps < 0 ? (__int128)high - d->delta_ps : (__int128)d->delta_ps - low;
    return noise < 0 ? 0 : noise > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)noise;
}

/* If all steps of one side are longer than all steps of the other but its slow outliers, these are
 * no noise of the difference, provided that the means differ in the same direction. VP_UNKNOWN:
 * they don't, or so few steps may be in this order by chance. */
static int64_t noise_beside_outliers(const side_steps *a, const side_steps *b, const vp_delta *d)
{
    const side_steps *shorter = d->delta_ps < 0 ? b : a, *longer = d->delta_ps < 0 ? a : b;
    const ps_list *few = &shorter->ordinary, *all = &longer->steps;
    __int128 n = (__int128)shorter->steps.n, m = (__int128)longer->steps.n;
    if (!few->n || few->n == shorter->steps.n || !all->n || rank_critical(few->n, all->n, 0) < 0)
        return VP_UNKNOWN;
    int64_t apart = all->v[0] - few->v[few->n - 1];
    bool same_way = longer->sum_ps * n * 100 > shorter->sum_ps * m * 101;
    return apart > 0 && same_way ? cmp_size(d) - apart : VP_UNKNOWN;
}

static int64_t smaller_known(int64_t a, int64_t b)
{
    return a == VP_UNKNOWN || (b != VP_UNKNOWN && b < a) ? b : a;
}

/* With few steps, uses the smaller noise of two tests, each of which is rarely wrong. With many
 * steps and outliers, uses only ranks, because the MAD does not estimate the deviation of outliers.
 */
static int64_t noise_within(const side_steps *a, const side_steps *b, const vp_delta *d)
{
    int64_t t = whole_noise(noise_of_medians(a->spread, b->spread));
    bool few = a->spread.n < STEPS_FOR_MAD || b->spread.n < STEPS_FOR_MAD;
    int64_t ranks =
        few || a->skewed || b->skewed ? noise_by_ranks(&a->steps, &b->steps, d) : VP_UNKNOWN;
    int64_t noise = !few && ranks != VP_UNKNOWN ? ranks : smaller_known(t, ranks);
    int64_t beside = noise_beside_outliers(a, b, d);
    return smaller_known(noise, beside < 0 && beside != VP_UNKNOWN ? 0 : beside);
}

static noise_side spread_of_captures(const ps_list *medians)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < medians->n; i++)
        sum += (double)medians->v[i];
    for (size_t i = 0; i < medians->n; i++) {
        double d = (double)medians->v[i] - sum / (double)medians->n;
        squares += d * d;
    }
    return (noise_side){.n = medians->n, .squares = squares};
}

/* With three captures, two are of one side, and differ only by noise: the noise is at least that
 * much. */
static int64_t noise_of_three(const side_steps *a, const side_steps *b)
{
    const ps_list *two = a->medians.n == 2 ? &a->medians : &b->medians;
    return two->v[1] - two->v[0];
}

static int64_t noise_between(const side_steps *a, const side_steps *b, const vp_delta *d)
{
    size_t captures = a->medians.n + b->medians.n;
    if (captures < 4)
        return captures < 3 ? VP_UNKNOWN : noise_of_three(a, b);
    int64_t t = whole_noise(
        noise_of_captures(spread_of_captures(&a->medians), spread_of_captures(&b->medians)));
    return smaller_known(t, noise_by_ranks(&a->medians, &b->medians, d));
}

/* The threshold (docs/reference/metrics.md#comparison): 1% of the shorter side, or the difference
 * of medians that chance explains if that is more. It is symmetric, so swapping the sides changes
 * no verdict. */
static void set_steps_and_noise(vp_comparison *c, const side_steps *a, const side_steps *b)
{
    c->steps_a = (int64_t)a->spread.n;
    c->steps_b = (int64_t)b->spread.n;
    c->median = cmp_delta(median_of_list(&a->medians), median_of_list(&b->medians));
    c->p90 = cmp_delta(median_of_list(&a->p90s), median_of_list(&b->p90s));
    c->typical = cmp_delta(median_of_list(&a->typicals), median_of_list(&b->typicals));
    c->within_ps = noise_within(a, b, &c->median);
    c->between_ps = noise_between(a, b, &c->median);
    int64_t shorter = c->median.a_ps < c->median.b_ps ? c->median.a_ps : c->median.b_ps;
    c->threshold_ps = shorter / 100;
    if (c->within_ps > c->threshold_ps)
        c->threshold_ps = c->within_ps;
    if (c->between_ps > c->threshold_ps)
        c->threshold_ps = c->between_ps;
}

int cmp_steps_and_noise(comparing *k)
{
    side_steps a = {0}, b = {0};
    int rc = collect_side_steps(&a, k, &k->given_a, false);
    if (rc >= 0)
        rc = collect_side_steps(&b, k, &k->given_b, true);
    if (rc >= 0) {
        k->mean = cmp_delta(median_of_list(&a.means), median_of_list(&b.means));
        set_steps_and_noise(k->c, &a, &b);
    }
    free_side_steps(&a);
    free_side_steps(&b);
    return rc;
}
