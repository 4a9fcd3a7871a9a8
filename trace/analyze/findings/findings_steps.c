/* F2 F12 F13: single times that differ much from the usual one. */
#include "trace/analyze/findings/findings_run.h"

#include <stdlib.h>
#include <string.h>

#include "trace/analyze/host/threads.h"
#include "trace/analyze/result/look_up.h"

/* True if a time is far above the median (docs/reference/findings.md#f12-step-outlier): by the
 * robust z, whose MAD is at least FND_PART of the median, or by a factor of it. */
static bool is_slow(const fnd_run *run, int64_t ps)
{
    const vp_steps *s = &run->r->steps;
    int64_t median_ps = s->median_ps, floor_ps = fnd_limit_of(run, median_ps, FND_PART);
    int64_t mad = s->mad_ps > floor_ps ? s->mad_ps : floor_ps;
    if (median_ps <= 0)
        return ps > 0;
    return fnd_exceeds(run, ps, median_ps, FND_FACTOR) ||
           (__int128)(ps - median_ps) * 10000 >
               (__int128)mad * (14826 * run->rule->limits[FND_DEVIATIONS]);
}

/* ---- F2 ---- */

typedef struct gaps_of {
    const vp_gap *longest[FND_PLACES_MAX];
    size_t shown, count;
    int64_t cause_ps[VP_CAUSES], total_ps;
} gaps_of;

/* The duration of a usual gap. The report has only the longest gaps of a device: if these are at
 * most half of all, the shortest of them is an upper bound of the median. With fewer than five gaps
 * none is usual. */
static int64_t usual_gap(const fnd_run *run, uint32_t device)
{
    const uint32_t *first = run->gaps.first + device; /* longest first */
    int64_t kept = first[1] - first[0], all = run->r->devices[device].gap_count;
    if (all < 5 || !kept)
        return 0;
    return run->r->gaps[run->gaps.row[first[0] + (all / 2 < kept ? all / 2 : kept - 1)]].dur_ps;
}

static void collect_gaps(gaps_of *out, const fnd_run *run, uint32_t device)
{
    const vp_report *r = run->r;
    int64_t usual = usual_gap(run, device), least = fnd_limit_ps(run);
    int64_t of_step = fnd_limit_of(run, r->steps.median_ps, FND_PART);
    uint32_t i;
    *out = (gaps_of){0};
    if (of_step > least)
        least = of_step;
    for (FND_ROWS(i, &run->gaps, device)) {
        const vp_gap *g = &r->gaps[i];
        if (g->dur_ps < least || (usual > 0 && !fnd_exceeds(run, g->dur_ps, usual, FND_FACTOR)))
            continue;
        if (out->shown < FND_PLACES_MAX)
            out->longest[out->shown++] = g;
        out->count++;
        out->total_ps += g->dur_ps;
        for (unsigned k = 0; k < VP_CAUSES; k++)
            out->cause_ps[k] += g->cause_ps[k] > 0 ? g->cause_ps[k] : 0;
    }
}

void fnd_long_gap(fnd_run *run)
{
    const vp_report *r = run->r;
    gaps_of g;
    for (uint32_t d = 0; d < r->device_count; d++) {
        collect_gaps(&g, run, d);
        if (!g.count)
            continue;
        double longest = (double)g.longest[0]->dur_ps / 1e9;
        fnd_keep_value(run, longest);
        fnd_claim *c = fnd_offer(run, d, 0, g.total_ps, longest);
        int64_t known = fnd_sum(g.cause_ps, 0, VP_CAUSES);
        memcpy(c->part_ps, g.cause_ps, sizeof g.cause_ps);
        if (known < g.total_ps)
            c->part_ps[VP_CAUSE_UNKNOWN] += g.total_ps - known;
    }
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    collect_gaps(&g, run, c->device);
    const vp_gap *first = g.longest[0];
    const char *doing =
        first->label ? fnd_say(run, " while the host is in %s", fnd_short(run, first->label)) : "";
    const char *before =
        first->next_op ? fnd_say(run, " before %s", fnd_short(run, first->next_op)) : "";
    fnd_message(run, g.count == 1
                         ? fnd_say(run, "%s sits idle for %s in one gap%s%s, %s of its window.",
                                   fnd_worst(run, c), fnd_time(run, first->dur_ps), before, doing,
                                   fnd_percent(run, g.total_ps, fnd_window(run, c->device)))
                         : fnd_say(run,
                                   "%s sits idle in %s unusually long gaps, %s in total (%s of its "
                                   "window); the longest: %s%s%s.",
                                   fnd_worst(run, c), fnd_count(run, (int64_t)g.count),
                                   fnd_time(run, g.total_ps),
                                   fnd_percent(run, g.total_ps, fnd_window(run, c->device)),
                                   fnd_time(run, first->dur_ps), before, doing));
    for (size_t i = 0; i < g.shown; i++)
        fnd_place(run, g.longest[i]->device, g.longest[i]->thread, g.longest[i]->start_ps,
                  g.longest[i]->dur_ps);
}

/* ---- Steps ---- */

static bool is_judged_step(const vp_step *s)
{
    return vp_step_counts(s);
}

/* True if the step belongs to a class that recurs after a fixed number of steps: gradient
 * accumulation, evaluation, logging. The report has these classes. Their steps are longer by
 * design, and no outliers. */
static bool is_regular_step(const vp_report *r, const vp_step *s)
{
    const vp_step_group *nearest = NULL;
    for (size_t i = 0; i < r->steps.group_count; i++) {
        const vp_step_group *g = &r->steps.groups[i];
        if (g->step_class == s->step_class &&
            (!nearest || llabs(s->dur_ps - g->median_ps) < llabs(s->dur_ps - nearest->median_ps)))
            nearest = g;
    }
    return s->step_class != VP_STEP_NORMAL && nearest && nearest->period > 1;
}

static bool is_outlier_step(const fnd_run *run, const vp_step *s)
{
    return is_judged_step(s) && is_slow(run, s->dur_ps) && !is_regular_step(run->r, s);
}

static const vp_step_device *step_device_part(const vp_step *s)
{
    return result_step_device(s, s->device);
}

/* The amount of a cell in a step. A step has one sum of copies, which counts as "other". */
static int64_t in_step(const vp_step_device *d, unsigned cell)
{
    if (cell < VP_CAUSES)
        return d->cause_ps[cell];
    return cell == FND_COMM                   ? d->breakdown.exposed_comm_ps
           : cell == FND_COMPUTE              ? d->breakdown.compute_ps
           : cell == FND_COPY + VP_OTHER_COPY ? d->breakdown.exposed_copy_ps
                                              : 0;
}

/* The usual amount of every cell in a step: the mean over the steps that are not slow. */
static void usual_cells(const fnd_run *run, int64_t out[FND_CELLS],
                        bool (*skip)(const fnd_run *, const vp_step *))
{
    const vp_report *r = run->r;
    __int128 sum[FND_CELLS] = {0};
    int64_t n = 0;
    for (size_t i = 0; i < r->steps.count; i++) {
        const vp_step *s = &r->steps.list[i];
        const vp_step_device *d = is_judged_step(s) && !skip(run, s) ? step_device_part(s) : NULL;
        if (!d)
            continue;
        n++;
        for (unsigned k = 0; k < FND_CELLS; k++)
            sum[k] += in_step(d, k);
    }
    for (unsigned k = 0; k < FND_CELLS; k++)
        out[k] = n ? (int64_t)(sum[k] / n) : 0;
}

/* The excess of these steps over the median, by cell if the report has it. */
typedef struct excess_of {
    size_t count;
    int64_t total_ps, part_ps[FND_CELLS];
    const vp_step *worst;
} excess_of;

/* The excess of a step over the median, within its device's window. Steps begin and end on the
 * host, so the parts before the device's first op and after its last cost the device no time.
 * Reports merged from files without a common clock have no places, and count whole steps. */
static int64_t longer_than_usual(const vp_report *r, const vp_step *s)
{
    int64_t dur = s->dur_ps;
    const vp_device *d = s->device < r->device_count ? &r->devices[s->device] : NULL;
    bool places = d && !d->own_clock && d->start_ps != VP_NO_TIME && s->start_ps != VP_NO_TIME;
    if (places) {
        int64_t start = s->start_ps > d->start_ps ? s->start_ps : d->start_ps;
        int64_t end = s->start_ps + s->dur_ps;
        dur = (end < d->end_ps ? end : d->end_ps) - start;
    }
    return dur - r->steps.median_ps;
}

static excess_of excess_over(const fnd_run *run, bool (*is_one)(const fnd_run *, const vp_step *),
                             bool (*skip)(const fnd_run *, const vp_step *))
{
    const vp_report *r = run->r;
    excess_of e = {0};
    int64_t usual[FND_CELLS];
    usual_cells(run, usual, skip);
    for (size_t i = 0; i < r->steps.count; i++) {
        const vp_step *s = &r->steps.list[i];
        if (!is_one(run, s))
            continue;
        const vp_step_device *d = step_device_part(s);
        int64_t more = longer_than_usual(r, s);
        if (more <= 0)
            continue;
        e.count++;
        e.total_ps += more;
        e.worst = !e.worst || s->dur_ps > e.worst->dur_ps ? s : e.worst;
        for (unsigned k = 0; d && k < FND_CELLS; k++)
            e.part_ps[k] += in_step(d, k) > usual[k] ? in_step(d, k) - usual[k] : 0;
    }
    return e;
}

/* The device that gives the durations of steps; if there are several, that of the worst step. */
static uint32_t measuring_device(const vp_report *r, const vp_step *worst)
{
    uint32_t device = r->has_devices ? worst->device : worst->grew.device;
    if (device < r->device_count)
        return device;
    return r->device_count ? 0 : VP_NO_DEVICE;
}

/* Distributes the copies over directions, in the proportions of the whole window. */
static void spread_copies(fnd_run *run, fnd_claim *c, int64_t copy_ps)
{
    const int64_t *whole = run->devices[c->device].whole_ps;
    int64_t all = fnd_sum(whole, FND_COPY, VP_DIRECTIONS);
    for (unsigned k = FND_COPY; k < FND_COPY + VP_DIRECTIONS; k++)
        c->part_ps[k] = fnd_of(copy_ps < all ? copy_ps : all, whole[k], all);
}

/* Steps do not divide VP_CAUSE_HOST into garbage collection and writes: the excess over its own
 * cell is taken from theirs. */
static void spread_host_time(fnd_run *run, fnd_claim *c, int64_t host_ps)
{
    const int64_t *whole = run->devices[c->device].whole_ps;
    int64_t more = host_ps - c->part_ps[VP_CAUSE_HOST];
    for (unsigned k = FND_GC; k <= FND_WRITE && more > 0; k++) {
        c->part_ps[k] = more < whole[k] ? more : whole[k];
        more -= c->part_ps[k];
    }
}

/* Claims the remaining time of the cells by which these steps are longer. */
static const fnd_claim *settle_steps(fnd_run *run, const excess_of *e, double value)
{
    uint32_t device = measuring_device(run->r, e->worst);
    int64_t known = 0;
    run->f->value = value;
    if (device == VP_NO_DEVICE)
        return NULL;
    fnd_claim *c = fnd_offer(run, device, 0, e->total_ps, value);
    for (unsigned k = 0; k < FND_CELLS; k++) {
        int64_t whole = run->devices[device].whole_ps[k];
        c->part_ps[k] = e->part_ps[k] < whole ? e->part_ps[k] : whole;
    }
    spread_host_time(run, c, e->part_ps[VP_CAUSE_HOST]);
    spread_copies(run, c, e->part_ps[FND_COPY + VP_OTHER_COPY]);
    known = fnd_sum(c->part_ps, 0, FND_CELLS);
    if (known < e->total_ps) { /* the parts of the steps explain less than the excess */
        int64_t more = e->total_ps - known, *compute = &c->part_ps[FND_COMPUTE];
        int64_t room = run->devices[device].whole_ps[FND_COMPUTE] - *compute;
        *compute += more < room ? more : room;
    }
    return fnd_settle(run);
}

static bool never_usual(const fnd_run *run, const vp_step *s)
{
    (void)run;
    (void)s;
    return false;
}

static bool is_warm_up(const fnd_run *run, const vp_step *s)
{
    (void)run;
    return s->warm_up && !s->partial;
}

/* True if one zone is at least half of the step's excess. */
static bool has_zone(const vp_report *r, const vp_step *s)
{
    return !r->has_devices && s->grew.name &&
           s->grew.more_ps >= (s->dur_ps - r->steps.median_ps) / 2;
}

/* The zone waits, or runs on another thread while the one with the steps waits. */
static bool is_waiting(const vp_report *r, const vp_grown *zone)
{
    bool own = false;
    for (size_t i = 0; i < r->thread_count && zone->thread; i++)
        own = own ||
              (r->threads[i].steps && r->threads[i].name && r->threads[i].device == zone->device &&
               !strcmp(r->threads[i].name, zone->thread));
    return !own || wait_kind_of(vp_str_of(zone->name), VP_STR_NONE);
}

/* The sum over all these steps for the zone that grew in the worst one. */
static const char *longer_by_zone(fnd_run *run, const vp_step *worst,
                                  bool (*is_one)(const fnd_run *, const vp_step *))
{
    const vp_grown *zone = &worst->grew;
    int64_t more = 0;
    if (!has_zone(run->r, worst))
        return "";
    for (size_t i = 0; i < run->r->steps.count; i++) {
        const vp_step *s = &run->r->steps.list[i];
        if (is_one(run, s) && s->grew.name && !strcmp(s->grew.name, zone->name))
            more += s->grew.more_ps;
    }
    if (is_waiting(run->r, zone)) {
        run->step_wait_device = zone->device;
        run->step_wait_ps = more;
    }
    return fnd_say(run, ", %s of it in %s%s%s%s%s", fnd_time(run, more), fnd_short(run, zone->name),
                   fnd_called_by(run, zone->caller, zone->thread ? "," : ""),
                   zone->thread ? " on thread " : "",
                   zone->thread ? fnd_short(run, zone->thread) : "",
                   zone->usual_ps ? fnd_say(run, " (usually %s)", fnd_time(run, zone->usual_ps))
                                  : ", which most steps do not have");
}

/* Names the part by which the steps are longer than the others. */
static const char *longer_by(fnd_run *run, const excess_of *e,
                             bool (*is_one)(const fnd_run *, const vp_step *))
{
    if (!run->r->has_devices)
        return longer_by_zone(run, e->worst, is_one);
    int64_t idle = fnd_sum(e->part_ps, 0, VP_CAUSES), comm = e->part_ps[FND_COMM],
            compute = e->part_ps[FND_COMPUTE];
    if (idle + comm + compute < e->total_ps / 2)
        return "";
    return fnd_say(run, ", mostly %s",
                   idle >= comm && idle >= compute ? "idle time"
                   : comm >= compute               ? "exposed communication"
                                                   : "compute");
}

static const char *step_phrase(fnd_run *run, const vp_step *s)
{
    return s->number >= 0 ? fnd_say(run, "step %lld", (long long)s->number)
           : s->name      ? fnd_short(run, s->name)
                          : "a step";
}

static void place_steps(fnd_run *run, bool (*is_one)(const fnd_run *, const vp_step *))
{
    const vp_steps *steps = &run->r->steps;
    const vp_step *last = NULL;
    for (size_t n = 0; n < FND_PLACES_MAX; n++) {
        const vp_step *best = NULL;
        for (size_t i = 0; i < steps->count; i++) {
            const vp_step *s = &steps->list[i];
            bool before =
                !last || s->dur_ps < last->dur_ps || (s->dur_ps == last->dur_ps && s > last);
            if (is_one(run, s) && before && (!best || s->dur_ps > best->dur_ps))
                best = s;
        }
        if (!best)
            return;
        if (!n && has_zone(run->r, best))
            fnd_place(run, best->grew.device, best->grew.thread, best->grew.start_ps,
                      best->grew.dur_ps);
        fnd_place(run, best->device, best->name, best->start_ps, best->dur_ps);
        last = best;
    }
}

static void find_warm_up(fnd_run *run)
{
    const vp_report *r = run->r;
    excess_of e = excess_over(run, is_warm_up, never_usual);
    if (!e.count || !settle_steps(run, &e, fnd_share(e.worst->dur_ps, r->steps.median_ps)))
        return;
    run->f->title = "First step slow (warm-up)";
    run->f->severity = VP_LEVEL_LOW;
    fnd_message(
        run, fnd_say(run,
                     "The first step takes %s, %.1f times the median of the others (%s)%s; it is "
                     "excluded from the statistics.",
                     fnd_time(run, e.worst->dur_ps), fnd_share(e.worst->dur_ps, r->steps.median_ps),
                     fnd_time(run, r->steps.median_ps),
                     r->has_devices ? "" : longer_by(run, &e, is_warm_up)));
    place_steps(run, is_warm_up);
}

static const vp_step_group *heavy_group(const vp_report *r)
{
    for (size_t i = 0; i < r->steps.group_count; i++)
        if (r->steps.groups[i].step_class == VP_STEP_HEAVY && r->steps.groups[i].period > 1)
            return &r->steps.groups[i];
    return NULL;
}

static int64_t longest_irregular(const vp_report *r)
{
    int64_t most = 0;
    for (size_t i = 0; i < r->steps.count; i++) {
        const vp_step *s = &r->steps.list[i];
        if (is_judged_step(s) && !is_regular_step(r, s) && s->dur_ps > most)
            most = s->dur_ps;
    }
    return most;
}

/* A step whose excess is small for the window may still be no noise, if the excess is a zone that
 * most steps lack. */
static bool is_rare_zone(fnd_run *run, const excess_of *e)
{
    if (!has_zone(run->r, e->worst) || e->worst->grew.usual_ps)
        return false;
    run->f->status = VP_FIRED;
    run->f->severity = VP_LEVEL_LOW;
    return true;
}

void fnd_step_outlier(fnd_run *run)
{
    const vp_report *r = run->r;
    excess_of e = excess_over(run, is_outlier_step, is_outlier_step);
    run->f->value = fnd_share(longest_irregular(r), r->steps.median_ps);
    if (!e.count) {
        find_warm_up(run);
        return;
    }
    if (!settle_steps(run, &e, fnd_share(e.worst->dur_ps, r->steps.median_ps)) &&
        !is_rare_zone(run, &e))
        return;
    /* Without a device, it is unknown whether the program or the machine was slow. */
    if (!r->has_devices && run->f->severity > VP_LEVEL_MEDIUM)
        run->f->severity = VP_LEVEL_MEDIUM;
    const vp_step_group *heavy = heavy_group(r);
    fnd_message(
        run,
        fnd_say(run,
                "%zu of %s steps %s far slower than the median of %s: %s in total%s. The worst, "
                "%s, takes %s%s.",
                e.count, fnd_count(run, r->steps.counted), e.count == 1 ? "is" : "are",
                fnd_time(run, r->steps.median_ps), fnd_time(run, e.total_ps),
                longer_by(run, &e, is_outlier_step), step_phrase(run, e.worst),
                fnd_time(run, e.worst->dur_ps),
                heavy ? fnd_say(run, " (every %lld steps, one is heavy)", (long long)heavy->period)
                      : ""));
    place_steps(run, is_outlier_step);
}

/* ---- F13 ---- */

static bool is_usual_slow(const fnd_run *run, const vp_step *s)
{
    return is_judged_step(s) && !is_outlier_step(run, s) && s->step_class == VP_STEP_NORMAL &&
           s->dur_ps > run->r->steps.median_ps;
}

static bool is_slow_one(const fnd_run *run, const vp_step *s)
{
    return is_outlier_step(run, s) || is_usual_slow(run, s);
}

/* CV (deviation / mean) of the steps without outliers and without those of other classes
 * (docs/reference/findings.md#f13-jitter). */
static double usual_cv(const fnd_run *run, size_t *n)
{
    const vp_report *r = run->r;
    double sum = 0, squares = 0;
    *n = 0;
    for (size_t i = 0; i < r->steps.count; i++) {
        const vp_step *s = &r->steps.list[i];
        if (!is_judged_step(s) || is_outlier_step(run, s) || s->step_class != VP_STEP_NORMAL)
            continue;
        ++*n;
        sum += (double)s->dur_ps;
    }
    double mean = *n ? sum / (double)*n : 0;
    for (size_t i = 0; i < r->steps.count; i++) {
        const vp_step *s = &r->steps.list[i];
        if (!is_judged_step(s) || is_outlier_step(run, s) || s->step_class != VP_STEP_NORMAL)
            continue;
        squares += ((double)s->dur_ps - mean) * ((double)s->dur_ps - mean);
    }
    return mean > 0 ? squares / (double)*n / (mean * mean) : 0;
}

void fnd_jitter(fnd_run *run)
{
    const vp_report *r = run->r;
    const int spread = run->rule->limits[FND_SPREAD];
    size_t n;
    double squared = usual_cv(run, &n), cv = __builtin_sqrt(squared);
    run->f->value = cv;
    excess_of e = excess_over(run, is_usual_slow, is_slow_one);
    if (n < run->rule->limits[FND_NUMBER]) {
        fnd_lacks(run, FND_NEED_FIVE_STEPS);
        return;
    }
    if (squared <= spread * spread / 1e6 || !e.count || !settle_steps(run, &e, cv))
        return;
    fnd_message(run, fnd_say(run,
                             "The CV of %zu ordinary steps is %.2f; their time above the median "
                             "of %s adds up to %s%s.",
                             n, cv, fnd_time(run, r->steps.median_ps), fnd_time(run, e.total_ps),
                             longer_by(run, &e, is_usual_slow)));
    place_steps(run, is_usual_slow);
}
