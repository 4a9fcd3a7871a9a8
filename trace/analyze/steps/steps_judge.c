#include "trace/analyze/steps/steps_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/analyze/result/order_statistics.h"
#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/base/sums.h"
#include "trace/links/numbered_name.h"

/* Upper bound: durations from 1 ps to 2^62 ps, each 10% above the previous, are at most ln 2^62 /
 * ln 1.1 + 1 = 452 groups. */
#define SEGMENTS_MAX 512
#define ENOUGH_STEPS 5 /* minimum number of steps to detect outliers */

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

static int64_t *counted_durations(const vp_steps *s, size_t *n)
{
    int64_t *v = vp_calloc(s->count + 1, sizeof *v);
    *n = 0;
    for (size_t i = 0; v && i < s->count; i++)
        if (vp_step_counts(&s->list[i]))
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

/* The first step of the first series. */
static void mark_warm_up(vp_steps *s, int64_t *v, size_t n)
{
    size_t first = 0;
    while (first < s->count && s->list[first].series)
        first++;
    median_and_mad(s, v, n);
    if (first < s->count)
        s->list[first].warm_up = !s->list[first].partial && steps_slow(s, s->list[first].dur_ps);
}

/* Mean, excess and CV of sorted values (docs/reference/metrics.md#step-statistics): excess is Σ
 * max(0, x − median), CV the population deviation divided by the mean. Sums have 128 bits, so they
 * are exact in any order. */
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

/* A range [from, to) of the sorted durations. */
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

/* At least 10% between two durations. */
static bool is_gap(int64_t below, int64_t above)
{
    return above - below > below / 10;
}

/* True if two ranges stay separate: the gap between them is at least twice the spread of either. */
static bool segments_apart(const int64_t *x, segment a, segment b)
{
    int64_t gap = (x[b.from] - x[a.to - 1]) / 2;
    return is_gap(x[a.to - 1], x[b.from]) && gap >= segment_spread(x, a) &&
           gap >= segment_spread(x, b);
}

/* Cuts at every gap. Ranges with too few members for a group are outliers, and in no group. */
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
        i -= i > 0; /* it is wider now, so the previous gap is checked again */
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

/* Names the members of a group and their common properties. */
static void fill_group(vp_step_group *g, vp_steps *s, int64_t least, int64_t most)
{
    size_t last = 0;
    int64_t away = INT64_MAX;
    bool regular = true;
    for (size_t i = 0; i < s->count; i++) {
        vp_step *x = &s->list[i];
        if (!vp_step_counts(x) || x->dur_ps < least || x->dur_ps > most)
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

/* True if the groups have enough of the steps to name them. Slow or cut steps may be in none: more
 * of them if a group recurs after a fixed number of steps, which is rarely chance. */
static bool are_groups_named(const vp_step_group *v, const segments *found, size_t n)
{
    size_t members = count_segment_members(found);
    bool regular = false;
    for (size_t i = 0; i < found->n; i++)
        regular = regular || (v[i].step_class != VP_STEP_NORMAL && v[i].period > 1);
    return members >= n - n / 10 || (regular && members >= n - n / 5);
}

static void unname_groups(vp_steps *s)
{
    for (size_t i = 0; i < s->count; i++)
        s->list[i].step_class = VP_STEP_NORMAL;
}

static int make_duration_groups(vp_steps *s, const int64_t *x, size_t n, vp_arena *arena)
{
    segments found = {.n = 0};
    if (n < 6)
        return 0;
    cut_at_gaps(&found, x, n);
    join_near(&found, x);
    if (found.n < 2 || count_segment_members(&found) < n - n / 5)
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
    if (!are_groups_named(v, &found, n)) {
        unname_groups(s);
        return 0;
    }
    s->groups = v;
    s->group_count = found.n;
    return 0;
}

/* ---- Series ---- */

/* Further names share the last series. */
#define SERIES_MAX 32u

static vp_str series_name(const vp_step *x)
{
    vp_str name = x->name ? links_without_step_number(vp_str_of(x->name)) : VP_STR("");
    size_t digits = 0;
    while (digits < name.n && name.p[digits] >= '0' && name.p[digits] <= '9')
        digits++;
    return digits == name.n ? VP_STR("") : name;
}

/* Gives each step the series of its name, in the order of first steps. *repeats: a name of several
 * has more than one step. */
static int number_series(vp_steps *s, vp_step_series *series, size_t *count, bool *repeats)
{
    vp_map by_name;
    int rc = 0;
    vp_map_init(&by_name);
    *count = 0;
    *repeats = false;
    for (size_t i = 0; rc >= 0 && i < s->count; i++) {
        vp_str name = series_name(&s->list[i]);
        uint64_t key = vp_hash(name.p, name.n, 0);
        uint32_t at = vp_map_get(&by_name, key);
        if (at == VP_MAP_NONE) {
            at = (uint32_t)(*count < SERIES_MAX ? (*count)++ : SERIES_MAX - 1);
            rc = vp_map_set(&by_name, key, at);
        } else {
            *repeats = true;
        }
        s->list[i].series = at;
        series[at].count++;
        series[at].total_ps = vp_add_most(series[at].total_ps, s->list[i].dur_ps);
        if (!series[at].name)
            series[at].name = s->list[i].name ? s->list[i].name : "";
    }
    vp_map_free(&by_name);
    return rc;
}

static uint32_t longest_series(const vp_step_series *series, size_t count)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        if (series[i].total_ps > series[best].total_ps)
            best = i;
    return best;
}

/* Sorts the series by total time, descending. */
static void order_series(vp_steps *s, const vp_step_series *found, size_t count)
{
    uint32_t now_at[SERIES_MAX];
    vp_step_series rest[SERIES_MAX];
    memcpy(rest, found, count * sizeof *rest);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t next = longest_series(rest, count);
        now_at[next] = i;
        s->series[i] = found[next];
        rest[next].total_ps = INT64_MIN;
    }
    for (size_t i = 0; i < s->count; i++)
        s->list[i].series = now_at[s->list[i].series];
}

static int name_series(vp_steps *s, vp_arena *arena)
{
    for (size_t i = 0; i < s->series_count; i++) {
        const vp_step named = {.name = s->series[i].name};
        vp_str name =
            s->series_count > 1 || s->series[i].count > 1 ? series_name(&named) : VP_STR("");
        s->series[i].name = vp_arena_strndup(arena, name.p, name.n);
        VP_NEED(s->series[i].name);
    }
    return 0;
}

/* Steps are one series if no name repeats, because names may contain numbers in any form. */
static int find_series(vp_steps *s, vp_arena *arena)
{
    vp_step_series found[SERIES_MAX] = {{0}};
    bool repeats;
    VP_TRY(number_series(s, found, &s->series_count, &repeats));
    if (!repeats) {
        found[0] = (vp_step_series){.name = "", .count = s->count};
        s->series_count = 1;
        for (size_t i = 0; i < s->count; i++) {
            s->list[i].series = 0;
            found[0].total_ps = vp_add_most(found[0].total_ps, s->list[i].dur_ps);
        }
    }
    s->series = vp_arena_zalloc(arena, s->series_count * sizeof *s->series);
    VP_NEED(s->series);
    order_series(s, found, s->series_count);
    return name_series(s, arena);
}

/* Median and extremes of each series. v has space for all steps. */
static void judge_series(vp_steps *s, int64_t *v)
{
    for (uint32_t k = 0; k < s->series_count; k++) {
        vp_step_series *x = &s->series[k];
        __int128 sum = 0;
        size_t n = 0;
        x->min_ps = x->max_ps = x->median_ps = x->mean_ps = VP_UNKNOWN;
        for (size_t i = 0; i < s->count; i++) {
            const vp_step *step = &s->list[i];
            if (step->series != k || step->partial || step->warm_up)
                continue;
            x->min_ps = n && x->min_ps < step->dur_ps ? x->min_ps : step->dur_ps;
            x->max_ps = step->dur_ps > x->max_ps ? step->dur_ps : x->max_ps;
            sum += step->dur_ps;
            v[n++] = step->dur_ps;
        }
        x->counted = (int64_t)n;
        if (!n)
            continue;
        x->mean_ps = (int64_t)((sum + (__int128)n / 2) / (__int128)n);
        x->median_ps = select_kth(v, n, nearest_rank(n, 50));
    }
}

static void clear_step_statistics(vp_steps *s)
{
    s->counted = s->median_ps = s->p90_ps = s->p95_ps = s->mad_ps = VP_UNKNOWN;
    s->mean_ps = s->min_ps = s->max_ps = s->excess_ps = VP_UNKNOWN;
    s->cv = 0;
    s->groups = NULL;
    s->group_count = 0;
    s->series = NULL;
    s->series_count = 0;
    for (size_t i = 0; i < s->count; i++) {
        s->list[i].warm_up = false;
        s->list[i].step_class = VP_STEP_NORMAL;
        s->list[i].series = 0;
    }
}

int steps_judge(vp_steps *s, vp_arena *arena)
{
    size_t n;
    clear_step_statistics(s);
    if (!s->count)
        return 0;
    VP_TRY(find_series(s, arena));
    VP_CLEANUP(vp_free_ptr) int64_t *v = counted_durations(s, &n);
    VP_NEED(v);
    mark_warm_up(s, v, n);
    judge_series(s, v);
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
