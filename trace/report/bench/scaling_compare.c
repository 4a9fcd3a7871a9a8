#include "trace/report/bench/scaling_compare.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/analyze/compare/noise.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/report/compare/compare_view.h"

#define PAIRS_MAX 100000u

const char *const scaling_time_words[SCALING_TIMES] = {"median",     "mean",   "p90",
                                                       "first_call", "warmup", "export"};

void scaling_compare_free(scaling_comparison *c)
{
    vp_free(c->pairs);
    vp_arena_free(&c->arena);
    *c = (scaling_comparison){0};
}

/* NULL if out of memory. */
__attribute__((format(printf, 2, 3))) static const char *print_reason(scaling_comparison *c,
                                                                      const char *fmt, ...)
{
    char text[600];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return vp_arena_strndup(&c->arena, text, n < 0 ? 0 : strlen(text));
}

/* ---- Figures of a row ---- */

static int by_run_time(const void *pa, const void *pb)
{
    int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return (a > b) - (a < b);
}

/* By nearest rank. */
static int p90_of(int64_t *out, const scaling_row *r)
{
    VP_CLEANUP(vp_free_ptr) int64_t *sorted = vp_calloc(r->runs, sizeof *sorted);
    VP_NEED(sorted);
    memcpy(sorted, r->run_ps, r->runs * sizeof *sorted);
    qsort(sorted, r->runs, sizeof *sorted, by_run_time);
    *out = sorted[(r->runs * 90 + 99) / 100 - 1];
    return 0;
}

static int64_t mean_of(const scaling_row *r)
{
    __int128 sum = 0, n = (__int128)r->runs;
    for (size_t i = 0; i < r->runs; i++)
        sum += r->run_ps[i];
    return (int64_t)((sum + n / 2) / n);
}

/* The times of a failed method are not times of a run. */
static int figures_of(int64_t out[SCALING_TIMES], const scaling_row *r)
{
    for (size_t i = 0; i < SCALING_TIMES; i++)
        out[i] = VP_UNKNOWN;
    if (!r)
        return 0;
    out[SCALING_FIRST_CALL] = r->first_call_ps;
    out[SCALING_WARMUP] = r->warmup_ps;
    out[SCALING_EXPORT] = r->export_ps;
    if (!r->ok)
        return 0;
    out[SCALING_MEDIAN] = out[SCALING_MEAN] = out[SCALING_P90] = r->time_ps;
    if (!r->runs)
        return 0;
    out[SCALING_MEAN] = mean_of(r);
    return p90_of(&out[SCALING_P90], r);
}

static int set_pair_times(scaling_pair *p)
{
    int64_t a[SCALING_TIMES], b[SCALING_TIMES];
    VP_TRY(figures_of(a, p->a));
    VP_TRY(figures_of(b, p->b));
    for (size_t i = 0; i < SCALING_TIMES; i++) {
        bool known = a[i] != VP_UNKNOWN && b[i] != VP_UNKNOWN;
        p->times[i] = (vp_delta){a[i], b[i], known ? b[i] - a[i] : VP_NO_TIME};
    }
    const vp_delta *d = &p->times[SCALING_MEDIAN];
    if (d->a_ps <= 0 || d->b_ps <= 0)
        return 0;
    p->speed_up = (double)d->a_ps / (double)d->b_ps;
    if (p->a->devices > 0 && p->b->devices > 0 && p->a->devices != p->b->devices)
        p->efficiency = p->speed_up * (double)p->a->devices / (double)p->b->devices;
    return 0;
}

/* ---- Noise ---- */

static double sum_run_squares(const scaling_row *r, int64_t mean_ps)
{
    double sum = 0;
    for (size_t i = 0; i < r->runs; i++) {
        double off = (double)(r->run_ps[i] - mean_ps);
        sum += off * off;
    }
    return sum;
}

/* max(1% of the shorter median, the standard errors of a difference of medians), symmetric in both
 * sides. A bench has few runs, and a median absolute deviation of three values is not reliable. */
static void set_pair_threshold(scaling_pair *p)
{
    const vp_delta *d = &p->times[SCALING_MEDIAN], *mean = &p->times[SCALING_MEAN];
    p->threshold_ps = VP_UNKNOWN;
    if (d->delta_ps == VP_NO_TIME || p->a->runs < 2 || p->b->runs < 2)
        return;
    double noise = noise_of_medians(
        (noise_side){.n = p->a->runs, .squares = sum_run_squares(p->a, mean->a_ps)},
        (noise_side){.n = p->b->runs, .squares = sum_run_squares(p->b, mean->b_ps)});
    p->threshold_ps = (d->a_ps < d->b_ps ? d->a_ps : d->b_ps) / 100;
    if (noise > (double)p->threshold_ps && noise < 4e18)
        p->threshold_ps = (int64_t)noise + 1;
}

/* ---- Verdicts ---- */

static double percent_of_time(int64_t part, int64_t whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

static void give_pair_verdict(scaling_pair *p, vp_verdict verdict, const char *reason)
{
    p->verdict = verdict;
    p->reason = reason;
}

static void judge_failed(scaling_comparison *c, scaling_pair *p)
{
    if (!p->a || !p->b)
        give_pair_verdict(p, VP_UNVERIFIED, p->a ? "no results in B" : "no results in A");
    else if (!p->a->ok && !p->b->ok)
        give_pair_verdict(p, VP_UNVERIFIED, "fails in both");
    else if (p->a->ok)
        give_pair_verdict(
            p, VP_REGRESSION,
            print_reason(c, "fails in B: %.300s", p->b->error ? p->b->error : "no reason given"));
    else
        give_pair_verdict(p, VP_IMPROVEMENT,
                          print_reason(c, "fails in A only: %.300s",
                                       p->a->error ? p->a->error : "no reason given"));
}

static void judge_times(scaling_comparison *c, scaling_pair *p)
{
    const vp_delta *d = &p->times[SCALING_MEDIAN];
    double noise = percent_of_time(p->threshold_ps, d->a_ps),
           off = percent_of_time(rep_delta_size(d), d->a_ps);
    if (p->threshold_ps == VP_UNKNOWN)
        give_pair_verdict(
            p, VP_UNVERIFIED,
            print_reason(
                c,
                "%zu and %zu runs: at least two of each are needed to distinguish a change from "
                "noise",
                p->a->runs, p->b->runs));
    else if (rep_delta_size(d) <= p->threshold_ps)
        give_pair_verdict(
            p, VP_NOISE,
            print_reason(c, "the median run differs by %.2f%%, within the noise of %.2f%%",
                         percent_of_time(d->delta_ps, d->a_ps), noise));
    else
        give_pair_verdict(p, d->delta_ps > 0 ? VP_REGRESSION : VP_IMPROVEMENT,
                          print_reason(c,
                                       "the median run is %.2f%% %s, more than the noise of %.2f%%",
                                       off, d->delta_ps > 0 ? "longer" : "shorter", noise));
}

static int judge_pair(scaling_comparison *c, scaling_pair *p)
{
    VP_TRY(set_pair_times(p));
    set_pair_threshold(p);
    if (!p->a || !p->b || !p->a->ok || !p->b->ok)
        judge_failed(c, p);
    else if (p->times[SCALING_MEDIAN].delta_ps == VP_NO_TIME)
        give_pair_verdict(p, VP_UNVERIFIED, "a result has no time");
    else
        judge_times(c, p);
    c->by_verdict[p->verdict]++;
    return p->reason ? 0 : vp_no_memory();
}

/* The distance of the medians, symmetric in both sides; a failure is the farthest. */
static double median_distance(const scaling_pair *p)
{
    return p->speed_up > 0 ? fabs(log(p->speed_up)) : INFINITY;
}

/* True if p is more important than the pair chosen so far: changes, then noise, then the rest. */
static bool is_more_telling_pair(const scaling_pair *p, const scaling_pair *chosen)
{
    static const int rank[] = {0, 0, 1, 2}; /* by vp_verdict */
    if (rank[p->verdict] != rank[chosen->verdict])
        return rank[p->verdict] < rank[chosen->verdict];
    return median_distance(p) > median_distance(chosen);
}

/* The verdict of the most important pair; there is at least one. */
static int judge_whole(scaling_comparison *c)
{
    const scaling_pair *most = &c->pairs[0];
    vp_buf who;
    for (size_t i = 1; i < c->count; i++)
        if (is_more_telling_pair(&c->pairs[i], most))
            most = &c->pairs[i];
    c->verdict = most->verdict;
    vp_buf_init(&who, 1u << 20);
    scaling_pair_name(&who, most);
    vp_buf_puts(&who, " on ");
    scaling_pair_devices(&who, most);
    int rc = who.status;
    c->reason = print_reason(c, "%.200s: %.300s", vp_buf_cstr(&who), most->reason);
    vp_buf_free(&who);
    return rc < 0 ? rc : c->reason ? 0 : vp_no_memory();
}

/* ---- Selecting pairs ---- */

static int comparison_add_pair(scaling_comparison *c, const scaling_row *a, const scaling_row *b)
{
    VP_TRY(vp_grow(&c->pairs, &c->cap, c->count + 1, sizeof *c->pairs, PAIRS_MAX));
    scaling_pair p = {.a = a, .b = b};
    VP_TRY(judge_pair(c, &p));
    c->pairs[c->count++] = p;
    return 0;
}

static bool has_one_number(const scaling *s)
{
    for (size_t i = 1; i < s->count; i++)
        if (s->rows[i].devices != s->rows[0].devices)
            return false;
    return true;
}

/* Both are sorted by method and devices. */
static int pair_sets(scaling_comparison *c, const scaling *a, const scaling *b)
{
    bool one = has_one_number(a) && has_one_number(b);
    size_t i = 0, k = 0;
    while (i < a->count || k < b->count) {
        const scaling_row *x = i < a->count ? &a->rows[i] : NULL;
        const scaling_row *y = k < b->count ? &b->rows[k] : NULL;
        int order = !x ? 1 : !y ? -1 : strcmp(x->method, y->method);
        if (!order && !one)
            order = (x->devices > y->devices) - (x->devices < y->devices);
        VP_TRY(comparison_add_pair(c, order <= 0 ? x : NULL, order >= 0 ? y : NULL));
        i += order <= 0;
        k += order >= 0;
    }
    return 0;
}

static int by_devices(const void *pa, const void *pb)
{
    const scaling_row *a = *(const scaling_row *const *)pa, *b = *(const scaling_row *const *)pb;
    int order = (a->devices > b->devices) - (a->devices < b->devices);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

static int pair_methods(scaling_comparison *c, const scaling *s)
{
    VP_CLEANUP(vp_free_ptr) const scaling_row **rows = vp_calloc(s->count, sizeof *rows);
    const scaling_row *first = NULL;
    VP_NEED(rows);
    for (size_t i = 0; i < s->count; i++)
        rows[i] = &s->rows[i];
    qsort(rows, s->count, sizeof *rows, by_devices);
    for (size_t i = 0; i < s->count; i++) {
        if (!first || first->devices != rows[i]->devices)
            first = rows[i];
        else if (strcmp(first->method, rows[i]->method) != 0)
            VP_TRY(comparison_add_pair(c, first, rows[i]));
    }
    return c->count ? 0 : vp_fail(VP_EARG, "only one method: name the results to compare it with");
}

int scaling_compare(scaling_comparison *c, const scaling *a, const scaling *b, const char *a_name,
                    const char *b_name)
{
    *c = (scaling_comparison){.a_name = a_name, .b_name = b_name};
    vp_arena_init(&c->arena);
    VP_TRY(b ? pair_sets(c, a, b) : pair_methods(c, a));
    return c->count ? judge_whole(c) : vp_fail(VP_EEMPTY, "no results to compare");
}

/* ---- Names ---- */

void scaling_pair_name(vp_buf *b, const scaling_pair *p)
{
    vp_str a = vp_str_of(p->a ? p->a->method : p->b->method);
    vp_str c = vp_str_of(p->b ? p->b->method : p->a->method);
    vp_buf_put(b, a.p, a.n);
    if (vp_str_eq(a, c))
        return;
    vp_buf_puts(b, " → ");
    vp_buf_put(b, c.p, c.n);
}

void scaling_pair_devices(vp_buf *b, const scaling_pair *p)
{
    int64_t a = p->a ? p->a->devices : p->b->devices, c = p->b ? p->b->devices : p->a->devices;
    vp_buf_printf(b, "%lld", (long long)a);
    if (a != c)
        vp_buf_printf(b, " → %lld", (long long)c);
}

void scaling_pair_label(vp_buf *b, const scaling_pair *p)
{
    scaling_pair_name(b, p);
    vp_buf_puts(b, ", devices: ");
    scaling_pair_devices(b, p);
}

/* ---- Summaries of all pairs ---- */

int64_t scaling_longest(const scaling_comparison *c, size_t time)
{
    int64_t longest = 0;
    for (size_t i = 0; i < c->count; i++) {
        const vp_delta *d = &c->pairs[i].times[time];
        longest = d->a_ps > longest ? d->a_ps : longest;
        longest = d->b_ps > longest ? d->b_ps : longest;
    }
    return longest;
}

bool scaling_has_time(const scaling_comparison *c, size_t time)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->pairs[i].times[time].a_ps >= 0 || c->pairs[i].times[time].b_ps >= 0)
            return true;
    return false;
}
