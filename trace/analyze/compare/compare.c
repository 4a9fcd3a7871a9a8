#include "trace/analyze/compare/compare.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/analyze/compare/compare_parts.h"
#include "trace/analyze/compare/noise.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* So many steps on each side are needed to tell a change from noise
 * (docs/reference/metrics.md#comparison). */
#define STEPS_MIN 3
/* Steps whose FLOPs differ by less do the same work. */
#define WORK_PERCENT 2

/* ---- What is compared ---- */

static int64_t whole_window(const vp_report *r)
{
    int64_t longest = VP_UNKNOWN;
    for (size_t i = 0; i < r->device_count; i++)
        if (r->devices[i].breakdown.window_ps > longest)
            longest = r->devices[i].breakdown.window_ps;
    return longest;
}

/* Counts the devices whose ops can be compared, and how much of all op time lies in the span. */
static void weigh_compared_side(cmp_side *s)
{
    for (size_t i = 0; i < s->r->device_count; i++)
        if (!s->per_step || s->r->devices[i].steps_counted > 0)
            s->devices[s->r->devices[i].kind]++;
    for (size_t i = 0; i < s->r->op_count; i++) {
        int64_t ps = cmp_op_self(s, &s->r->ops[i]);
        if (ps == VP_UNKNOWN)
            continue;
        s->span_ps += ps;
        s->whole_ps += s->r->ops[i].self_ps;
    }
}

cmp_side cmp_side_of(const vp_report *r, bool per_step)
{
    cmp_side s = {.r = r, .per_step = per_step};
    weigh_compared_side(&s);
    return s;
}

static void set_span(comparing *k)
{
    vp_comparison *c = k->c;
    const vp_steps *a = &k->a.r->steps, *b = &k->b.r->steps;
    c->per_step = cmp_has_steps(k->a.r) && cmp_has_steps(k->b.r);
    k->a = cmp_side_of(k->a.r, c->per_step);
    k->b = cmp_side_of(k->b.r, c->per_step);
    c->steps_a = a->counted;
    c->steps_b = b->counted;
    if (c->per_step) {
        c->step = cmp_delta(a->mean_ps, b->mean_ps);
        c->median = cmp_delta(a->median_ps, b->median_ps);
        c->p90 = cmp_delta(a->p90_ps, b->p90_ps);
        return;
    }
    c->step = cmp_delta(whole_window(k->a.r), whole_window(k->b.r));
    c->median = c->p90 = cmp_delta(VP_UNKNOWN, VP_UNKNOWN);
}

/* ---- Noise and verdict ---- */

/* From so many steps on, the spread is estimated by the median absolute deviation, so that one slow
 * step in ten does not hide a change. With fewer steps that is too uncertain: with three Gaussian
 * steps on each side, a sixth of equal pairs were told apart. */
#define STEPS_FOR_MAD 30

/* The sum of squared deviations: from the CV; or of many steps from the MAD, since 1.4826 MAD is
 * the deviation of normally distributed values. */
static noise_side spread_of(const vp_steps *s)
{
    double n = (double)s->counted, off = s->cv * (double)s->mean_ps,
           mad = 1.4826 * (double)s->mad_ps;
    return (noise_side){(size_t)s->counted,
                        s->counted < STEPS_FOR_MAD ? off * off * n : mad * mad * (n - 1)};
}

/* The threshold (docs/reference/metrics.md#comparison): 1 % of the shorter side, or by how much the
 * medians differ by chance if that is more. Both sides count alike, so that swapping them changes
 * no verdict. */
static void set_noise_threshold(comparing *k)
{
    vp_comparison *c = k->c;
    const vp_steps *a = &k->a.r->steps, *b = &k->b.r->steps;
    int64_t shorter = c->step.a_ps < c->step.b_ps ? c->step.a_ps : c->step.b_ps;
    c->threshold_ps = shorter < 0 ? VP_UNKNOWN : shorter / 100;
    if (!c->per_step)
        return;
    shorter = c->median.a_ps < c->median.b_ps ? c->median.a_ps : c->median.b_ps;
    double noise = noise_of_medians(spread_of(a), spread_of(b));
    c->threshold_ps = shorter / 100;
    if (noise > (double)c->threshold_ps && noise < 4e18)
        c->threshold_ps = (int64_t)noise + 1;
}

static double percent_of(int64_t part, int64_t whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

static void set_verdict(comparing *k, vp_verdict verdict, const char *reason)
{
    k->c->verdict = verdict;
    k->c->verdict_reason = reason;
}

/* Whether B does more or less work than A, and does it as fast to within 1 %: then time alone says
 * nothing. */
static bool work_differs(comparing *k)
{
    const vp_comparison *c = k->c;
    int64_t a = cmp_flops(&k->a), b = cmp_flops(&k->b);
    if (a <= 0 || b <= 0 || c->median.a_ps <= 0)
        return false;
    double work = (double)b / (double)a, time = (double)c->median.b_ps / (double)c->median.a_ps;
    bool longer = c->median.delta_ps > 0;
    if (fabs(work - 1) * 100 < WORK_PERCENT || (longer ? time > work * 1.01 : time < work * 0.99))
        return false;
    if (longer != (work > 1))
        return false;
    set_verdict(
        k, VP_UNVERIFIED,
        cmp_print(k,
                  "a step of B does %.2f × the FLOP of A in %.2f × the time: %s work at an equal "
                  "or higher rate",
                  work, time, longer ? "more" : "less"));
    return true;
}

static const char *how_much(comparing *k)
{
    const vp_delta *d = &k->c->median;
    double noise = percent_of(k->c->threshold_ps, d->a_ps);
    if (d->a_ps > 0 && d->delta_ps > d->a_ps)
        return cmp_print(k, "the median step takes %.1f times as long; the noise is %.2f%%",
                         (double)d->b_ps / (double)d->a_ps, noise);
    return cmp_print(k, "the median step is %.2f%% %s, more than the noise of %.2f%%",
                     percent_of(cmp_size(d), d->a_ps), d->delta_ps > 0 ? "longer" : "shorter",
                     noise);
}

static const char *why_no_steps(const comparing *k)
{
    int64_t a = k->c->steps_a, b = k->c->steps_b;
    if (a > 0 && b > 0)
        return cmp_has_steps(k->b.r)   ? "the steps of A end before their device work"
               : cmp_has_steps(k->a.r) ? "the steps of B end before their device work"
                                       : "the steps of both runs end before their device work";
    return a > 0 ? "B has no steps" : b > 0 ? "A has no steps" : "no steps in either run";
}

static void judge_comparison(comparing *k)
{
    const vp_comparison *c = k->c;
    int64_t size = cmp_size(&c->median);
    if (!c->per_step) {
        set_verdict(
            k, VP_UNVERIFIED,
            cmp_print(k,
                      "%s; whole windows are compared, so a change cannot be distinguished from "
                      "noise",
                      why_no_steps(k)));
        return;
    }
    if (c->steps_a < STEPS_MIN || c->steps_b < STEPS_MIN) {
        set_verdict(
            k, VP_UNVERIFIED,
            cmp_print(k,
                      "%lld and %lld counted steps: at least %d of each are needed to distinguish "
                      "a change from noise",
                      (long long)c->steps_a, (long long)c->steps_b, STEPS_MIN));
        return;
    }
    if (size <= c->threshold_ps) {
        set_verdict(k, VP_NOISE,
                    cmp_print(k, "the median step differs by %.2f%%, within the noise of %.2f%%",
                              percent_of(c->median.delta_ps, c->median.a_ps),
                              percent_of(c->threshold_ps, c->median.a_ps)));
        return;
    }
    if (work_differs(k))
        return;
    set_verdict(k, c->median.delta_ps > 0 ? VP_REGRESSION : VP_IMPROVEMENT, how_much(k));
}

/* ---- The whole ---- */

static int fill_comparison(comparing *k)
{
    vp_comparison *c = k->c;
    c->a_id = cmp_text(k, k->a.r->session_id);
    c->a_name = cmp_text(k, k->a.r->session_name);
    c->a_path = cmp_text(k, k->a.r->session_path);
    c->b_id = cmp_text(k, k->b.r->session_id);
    c->b_name = cmp_text(k, k->b.r->session_name);
    c->b_path = cmp_text(k, k->b.r->session_path);
    set_span(k);
    set_noise_threshold(k);
    VP_TRY(cmp_devices(k));
    VP_TRY(cmp_ops(k));
    VP_TRY(cmp_scopes(k));
    VP_TRY(cmp_memory(k));
    VP_TRY(cmp_findings(k));
    cmp_caveats(k);
    judge_comparison(k);
    return k->out_of_memory ? vp_no_memory() : 0;
}

/* A report without an event cannot pass a gate. */
static int check_has_events(const vp_report *r, char side)
{
    if (r->events > 0 || r->device_count || r->steps.count || r->memory_count)
        return 0;
    return vp_fail(VP_EEMPTY, "%c has no events; nothing to compare", side);
}

int compare_make(vp_comparison **out, const vp_report *a, const vp_report *b)
{
    VP_TRY(check_has_events(a, 'A'));
    VP_TRY(check_has_events(b, 'B'));
    if (a->group != b->group)
        return vp_fail(VP_EARG, "the two reports use different op groups: write both with the same "
                                "--group");
    if (a->depth != VP_DEPTH_FULL || b->depth != VP_DEPTH_FULL)
        return vp_fail(VP_EARG, "only full reports can be compared, not op tables alone");
    comparing k = {.a = {.r = a}, .b = {.r = b}};
    k.c = vp_calloc(1, sizeof *k.c);
    k.arena = vp_calloc(1, sizeof *k.arena);
    if (!k.c || !k.arena) {
        vp_free(k.c);
        vp_free(k.arena);
        return vp_no_memory();
    }
    vp_arena_init(k.arena);
    k.c->owner_ = k.arena;
    int rc = fill_comparison(&k);
    if (rc < 0) {
        compare_free(k.c);
        return rc;
    }
    *out = k.c;
    return 0;
}

void compare_free(vp_comparison *c)
{
    if (!c)
        return;
    vp_arena_free(c->owner_);
    vp_free(c->owner_);
    vp_free(c);
}
