#include "trace/analyze/compare/compare.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/analyze/compare/compare_captures.h"
#include "trace/analyze/compare/compare_parts.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* Minimum number of steps on each side to distinguish a change from noise
 * (docs/reference/metrics.md#comparison). */
#define STEPS_MIN 3
/* Steps whose FLOPs differ by less do the same work. */
#define WORK_PERCENT 2

/* ---- What is compared ---- */

/* Counts the devices whose ops can be compared, and the share of all op time within the span. */
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
    if (c->per_step) {
        c->step = cmp_delta(a->mean_ps, b->mean_ps);
        return;
    }
    c->steps_a = a->counted;
    c->steps_b = b->counted;
    c->step = cmp_delta(cmp_whole_window(k->a.r), cmp_whole_window(k->b.r));
    c->median = c->p90 = c->typical = cmp_delta(VP_UNKNOWN, VP_UNKNOWN);
    c->within_ps = c->between_ps = VP_UNKNOWN;
    int64_t shorter = c->step.a_ps < c->step.b_ps ? c->step.a_ps : c->step.b_ps;
    c->threshold_ps = shorter < 0 ? VP_UNKNOWN : shorter / 100;
}

/* ---- Verdict ---- */

static double percent_of(int64_t part, int64_t whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

static void set_verdict(comparing *k, vp_verdict verdict, const char *reason)
{
    k->c->verdict = verdict;
    k->c->verdict_reason = reason;
}

/* True if B does more or less work than A at the same rate, within 1%: then the time alone is not a
 * regression. */
static bool work_differs(comparing *k, const vp_delta *d)
{
    int64_t a = cmp_flops(&k->a), b = cmp_flops(&k->b);
    if (a <= 0 || b <= 0 || d->a_ps <= 0)
        return false;
    double work = (double)b / (double)a, time = (double)d->b_ps / (double)d->a_ps;
    bool longer = d->delta_ps > 0;
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

static const char *noise_text(char *out, size_t size, const comparing *k, int64_t of_ps)
{
    int64_t noise = k->c->threshold_ps;
    snprintf(out, size, "the noise of %.3f ms (%.2f%%)", (double)noise / 1e9,
             percent_of(noise, of_ps));
    return out;
}

static const char *how_much(comparing *k, const vp_delta *d)
{
    char noise[80], certain[120] = "";
    const char *what = d != &k->c->typical               ? "the median step"
                       : d->delta_ps == k->mean.delta_ps ? "the mean step"
                                                         : "periodic steps included, the mean step";
    double from = (double)d->a_ps / 1e9, to = (double)d->b_ps / 1e9;
    noise_text(noise, sizeof noise, k, d->a_ps);
    bool above = cmp_size(d) > k->c->threshold_ps;
    if (!above)
        snprintf(certain, sizeof certain, "; at least %.3f ms are work that only %s does",
                 fabs((double)k->c->certain_ps) / 1e9, d->delta_ps > 0 ? "B" : "A");
    if (d->a_ps > 0 && d->delta_ps > d->a_ps)
        return cmp_print(
            k, "%s takes %.1f times as long (%.3f instead of %.3f ms, %+.3f ms), %s than %s%s",
            what, (double)d->b_ps / (double)d->a_ps, to, from, to - from, above ? "more" : "less",
            noise, certain);
    return cmp_print(k, "%s is %.2f%% %s (%.3f instead of %.3f ms, %+.3f ms), %s than %s%s", what,
                     percent_of(cmp_size(d), d->a_ps), d->delta_ps > 0 ? "longer" : "shorter", to,
                     from, to - from, above ? "more" : "less", noise, certain);
}

/* True if part of the difference is work that only one side does, of at least 1% of the shorter
 * side. */
static bool has_certain_part(const vp_comparison *c, const vp_delta *d)
{
    int64_t shorter = d->a_ps < d->b_ps ? d->a_ps : d->b_ps;
    int64_t certain = d->delta_ps < 0 ? -c->certain_ps : c->certain_ps;
    return certain > shorter / 100 && cmp_size(d) > shorter / 100;
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

/* The reason why step times cannot be compared; NULL: they can. */
static const char *why_unverified(comparing *k)
{
    const vp_comparison *c = k->c;
    if (!c->per_step)
        return cmp_print(k,
                         "%s; whole windows are compared, so a change cannot be distinguished from "
                         "noise",
                         why_no_steps(k));
    if (c->steps_a < STEPS_MIN || c->steps_b < STEPS_MIN)
        return cmp_print(
            k,
            "%lld and %lld counted steps: at least %d of each are needed to distinguish "
            "a change from noise",
            (long long)c->steps_a, (long long)c->steps_b, STEPS_MIN);
    if (c->median.a_ps <= 0 || c->median.b_ps <= 0)
        return cmp_print(k, "the median step of %s has no length",
                         c->median.a_ps > 0   ? "B"
                         : c->median.b_ps > 0 ? "A"
                                              : "A and of B");
    return NULL;
}

/* Work that only one side does, but not at regular distances, is in the mean step alone. */
static void use_mean_if_certain(comparing *k)
{
    vp_comparison *c = k->c;
    bool hidden =
        cmp_size(&c->median) <= c->threshold_ps && cmp_size(&c->typical) <= c->threshold_ps;
    if (c->per_step && hidden && has_certain_part(c, &k->mean) &&
        cmp_size(&k->mean) > cmp_size(&c->typical))
        c->typical = k->mean;
}

static void judge_comparison(comparing *k)
{
    const vp_comparison *c = k->c;
    const char *missing = why_unverified(k);
    const vp_delta *d = cmp_size(&c->typical) > cmp_size(&c->median) ? &c->typical : &c->median;
    char noise[80];
    if (missing) {
        set_verdict(k, VP_UNVERIFIED, missing);
        return;
    }
    if (cmp_size(d) <= c->threshold_ps && !has_certain_part(c, d)) {
        set_verdict(k, VP_NOISE,
                    cmp_print(k, "the median step differs by %+.3f ms (%+.2f%%), within %s",
                              (double)c->median.delta_ps / 1e9,
                              percent_of(c->median.delta_ps, c->median.a_ps),
                              noise_text(noise, sizeof noise, k, c->median.a_ps)));
        return;
    }
    if (work_differs(k, d))
        return;
    set_verdict(k, d->delta_ps > 0 ? VP_REGRESSION : VP_IMPROVEMENT, how_much(k, d));
}

/* ---- The comparison ---- */

static int fill_comparison(comparing *k)
{
    vp_comparison *c = k->c;
    VP_TRY(cmp_captures(k));
    c->a_id = cmp_text(k, k->a.r->session_id);
    c->a_name = cmp_text(k, k->a.r->session_name);
    c->a_path = cmp_text(k, k->a.r->session_path);
    c->b_id = cmp_text(k, k->b.r->session_id);
    c->b_name = cmp_text(k, k->b.r->session_name);
    c->b_path = cmp_text(k, k->b.r->session_path);
    set_span(k);
    if (c->per_step)
        VP_TRY(cmp_steps_and_noise(k));
    VP_TRY(cmp_devices(k));
    VP_TRY(cmp_ops(k));
    VP_TRY(cmp_scopes(k));
    VP_TRY(cmp_idle(k));
    VP_TRY(cmp_memory(k));
    VP_TRY(cmp_findings(k));
    cmp_caveats(k);
    use_mean_if_certain(k);
    judge_comparison(k);
    cmp_cause(k);
    return k->out_of_memory ? vp_no_memory() : 0;
}

static int check_captures(const compare_side *s, const vp_report *first)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->captures[i]->group != first->group)
            return vp_fail(VP_EARG, "the reports use different op groups: write all with the same "
                                    "--group");
        if (s->captures[i]->depth != VP_DEPTH_FULL)
            return vp_fail(VP_EARG, "only full reports can be compared, not op tables alone");
    }
    return 0;
}

int compare_sides(vp_comparison **out, const compare_side *a, const compare_side *b)
{
    VP_TRY(check_captures(a, a->captures[0]));
    VP_TRY(check_captures(b, a->captures[0]));
    comparing k = {.given_a = *a, .given_b = *b};
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

int compare_make(vp_comparison **out, const vp_report *a, const vp_report *b)
{
    return compare_sides(out, &(compare_side){&a, 1, 0}, &(compare_side){&b, 1, 0});
}

void compare_free(vp_comparison *c)
{
    if (!c)
        return;
    vp_arena_free(c->owner_);
    vp_free(c->owner_);
    vp_free(c);
}
