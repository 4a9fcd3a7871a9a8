/* F2 F12 F13: single times that are far from the usual one. */
#include "trace/analyze/findings/findings_run.h"

#include <stdlib.h>
#include <string.h>

#include "trace/analyze/host/threads.h"
#include "trace/base/mem.h"

/* Too far from the median by the robust z, with a MAD that is at least a part of the median, or so
 * many times the median. */
static bool is_slow(const fd_run *run, int64_t ps)
{
    const vp_steps *s = &run->r->steps;
    int64_t median_ps = s->median_ps, floor_ps = fd_limit_of(run, median_ps, FD_PART);
    int64_t mad = s->mad_ps > floor_ps ? s->mad_ps : floor_ps;
    if (median_ps <= 0)
        return ps > 0;
    return fd_exceeds(run, ps, median_ps, FD_FACTOR) ||
           (__int128)(ps - median_ps) * 10000 >
               (__int128)mad * (14826 * run->rule->limits[FD_DEVIATIONS]);
}

/* ---- F2 ---- */

typedef struct gaps_of {
    const vp_gap *longest[FD_PLACES_MAX];
    size_t shown, count;
    int64_t cause_ps[VP_CAUSES], total_ps;
} gaps_of;

/* The report keeps a device's longest gaps. The shortest of them bounds the median of all from
 * above where at most half are kept; of fewer than five gaps none is usual. */
static int64_t usual_gap(const fd_run *run, uint32_t device)
{
    const uint32_t *first = run->gaps.first + device; /* longest first */
    int64_t kept = first[1] - first[0], all = run->r->devices[device].gap_count;
    if (all < 5 || !kept)
        return 0;
    return run->r->gaps[run->gaps.row[first[0] + (all / 2 < kept ? all / 2 : kept - 1)]].dur_ps;
}

static void collect_gaps(gaps_of *out, const fd_run *run, uint32_t device)
{
    const vp_report *r = run->r;
    int64_t usual = usual_gap(run, device), least = fd_limit_ps(run);
    int64_t of_step = fd_limit_of(run, r->steps.median_ps, FD_PART);
    uint32_t i;
    *out = (gaps_of){0};
    if (of_step > least)
        least = of_step;
    for (FD_ROWS(i, &run->gaps, device)) {
        const vp_gap *g = &r->gaps[i];
        if (g->dur_ps < least || (usual > 0 && !fd_exceeds(run, g->dur_ps, usual, FD_FACTOR)))
            continue;
        if (out->shown < FD_PLACES_MAX)
            out->longest[out->shown++] = g;
        out->count++;
        out->total_ps += g->dur_ps;
        for (unsigned k = 0; k < VP_CAUSES; k++)
            out->cause_ps[k] += g->cause_ps[k] > 0 ? g->cause_ps[k] : 0;
    }
}

void fd_long_gap(fd_run *run)
{
    const vp_report *r = run->r;
    gaps_of g;
    for (uint32_t d = 0; d < r->device_count; d++) {
        collect_gaps(&g, run, d);
        if (!g.count)
            continue;
        double longest = (double)g.longest[0]->dur_ps / 1e9;
        fd_keep_value(run, longest);
        fd_claim *c = fd_offer(run, d, 0, g.total_ps, longest);
        int64_t known = fd_sum(g.cause_ps, 0, VP_CAUSES);
        memcpy(c->part_ps, g.cause_ps, sizeof g.cause_ps);
        if (known < g.total_ps)
            c->part_ps[VP_CAUSE_UNKNOWN] += g.total_ps - known;
    }
    const fd_claim *c = fd_settle(run);
    if (!c)
        return;
    collect_gaps(&g, run, c->device);
    const vp_gap *first = g.longest[0];
    const char *doing =
        first->label ? fd_say(run, " while the host is in %s", fd_short(run, first->label)) : "";
    const char *before =
        first->next_op ? fd_say(run, " before %s", fd_short(run, first->next_op)) : "";
    fd_message(run, g.count == 1
                        ? fd_say(run, "%s stands still for %s at once%s%s, %s of its window.",
                                 fd_worst(run, c), fd_time(run, first->dur_ps), before, doing,
                                 fd_percent(run, g.total_ps, fd_window(run, c->device)))
                        : fd_say(run,
                                 "%s stands still in %s unusually long gaps, %s in all (%s of its "
                                 "window); the longest: %s%s%s.",
                                 fd_worst(run, c), fd_count(run, (int64_t)g.count),
                                 fd_time(run, g.total_ps),
                                 fd_percent(run, g.total_ps, fd_window(run, c->device)),
                                 fd_time(run, first->dur_ps), before, doing));
    for (size_t i = 0; i < g.shown; i++)
        fd_place(run, g.longest[i]->device, g.longest[i]->thread, g.longest[i]->start_ps,
                 g.longest[i]->dur_ps);
}

/* ---- Steps ---- */

static bool counts(const vp_step *s)
{
    return !s->partial && !s->warm_up;
}

/* Of a class that comes every so many steps: gradient accumulation, evaluation, logging. The report
 * tells such classes apart; that one of their members is longer than the others of the program is
 * what makes it one. */
static bool is_regular(const vp_report *r, const vp_step *s)
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

static bool is_outlier(const fd_run *run, const vp_step *s)
{
    return counts(s) && is_slow(run, s->dur_ps) && !is_regular(run->r, s);
}

static const vp_step_device *part_of(const vp_step *s)
{
    for (size_t i = 0; i < s->device_count; i++)
        if (s->devices[i].device == s->device)
            return &s->devices[i];
    return NULL;
}

/* What of a cell lies in a step; copies are known in one sum, which stands for "other". */
static int64_t in_step(const vp_step_device *d, unsigned cell)
{
    if (cell < VP_CAUSES)
        return d->cause_ps[cell];
    return cell == FD_COMM                   ? d->breakdown.exposed_comm_ps
           : cell == FD_COMPUTE              ? d->breakdown.compute_ps
           : cell == FD_COPY + VP_OTHER_COPY ? d->breakdown.exposed_copy_ps
                                             : 0;
}

/* The usual amount of every cell in a step: the mean over steps that are none of these. */
static void usual_cells(const fd_run *run, int64_t out[FD_CELLS],
                        bool (*skip)(const fd_run *, const vp_step *))
{
    const vp_report *r = run->r;
    __int128 sum[FD_CELLS] = {0};
    int64_t n = 0;
    for (size_t i = 0; i < r->steps.count; i++) {
        const vp_step *s = &r->steps.list[i];
        const vp_step_device *d = part_of(s);
        if (!counts(s) || skip(run, s) || !d)
            continue;
        n++;
        for (unsigned k = 0; k < FD_CELLS; k++)
            sum[k] += in_step(d, k);
    }
    for (unsigned k = 0; k < FD_CELLS; k++)
        out[k] = n ? (int64_t)(sum[k] / n) : 0;
}

/* What these steps are longer than the median, cell by cell as far as the report knows it. */
typedef struct excess_of {
    size_t count;
    int64_t total_ps, part_ps[FD_CELLS];
    const vp_step *worst;
} excess_of;

/* What of a step is longer than the median, in the window of its device. Steps begin and end on the
 * host: what lies before the first op of the device, or after its last, costs it nothing. Reports
 * that were merged from files without a common clock have no places, and count whole steps. */
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

static excess_of excess_over(const fd_run *run, bool (*is_one)(const fd_run *, const vp_step *),
                             bool (*skip)(const fd_run *, const vp_step *))
{
    const vp_report *r = run->r;
    excess_of e = {0};
    int64_t usual[FD_CELLS];
    usual_cells(run, usual, skip);
    for (size_t i = 0; i < r->steps.count; i++) {
        const vp_step *s = &r->steps.list[i];
        const vp_step_device *d = part_of(s);
        int64_t more = longer_than_usual(r, s);
        if (!is_one(run, s) || more <= 0)
            continue;
        e.count++;
        e.total_ps += more;
        e.worst = !e.worst || s->dur_ps > e.worst->dur_ps ? s : e.worst;
        for (unsigned k = 0; d && k < FD_CELLS; k++)
            e.part_ps[k] += in_step(d, k) > usual[k] ? in_step(d, k) - usual[k] : 0;
    }
    return e;
}

/* The device that the steps' lengths are measured on; of several the one of the worst step. */
static uint32_t device_of(const vp_report *r, const vp_step *worst)
{
    uint32_t device = r->has_devices ? worst->device : worst->grew.device;
    if (device < r->device_count)
        return device;
    return r->device_count ? 0 : VP_NO_DEVICE;
}

/* Copies in proportion to the directions of the whole window. */
static void spread_copies(fd_run *run, fd_claim *c, int64_t copy_ps)
{
    const int64_t *whole = run->devices[c->device].whole_ps;
    int64_t all = fd_sum(whole, FD_COPY, VP_DIRECTIONS);
    for (unsigned k = FD_COPY; k < FD_COPY + VP_DIRECTIONS; k++)
        c->part_ps[k] = fd_of(copy_ps < all ? copy_ps : all, whole[k], all);
}

/* A claim of what no earlier rule took from the cells by which these steps are longer. */
static const fd_claim *settle_steps(fd_run *run, const excess_of *e, double value)
{
    uint32_t device = device_of(run->r, e->worst);
    int64_t known = 0;
    run->f->value = value;
    if (device == VP_NO_DEVICE)
        return NULL;
    fd_claim *c = fd_offer(run, device, 0, e->total_ps, value);
    for (unsigned k = 0; k < FD_CELLS; k++) {
        int64_t whole = run->devices[device].whole_ps[k];
        c->part_ps[k] = e->part_ps[k] < whole ? e->part_ps[k] : whole;
    }
    spread_copies(run, c, e->part_ps[FD_COPY + VP_OTHER_COPY]);
    known = fd_sum(c->part_ps, 0, FD_CELLS);
    if (known < e->total_ps) { /* more than its steps' parts are longer by */
        int64_t more = e->total_ps - known, *compute = &c->part_ps[FD_COMPUTE];
        int64_t room = run->devices[device].whole_ps[FD_COMPUTE] - *compute;
        *compute += more < room ? more : room;
    }
    return fd_settle(run);
}

static bool never(const fd_run *run, const vp_step *s)
{
    (void)run;
    (void)s;
    return false;
}

static bool is_warm_up(const fd_run *run, const vp_step *s)
{
    (void)run;
    return s->warm_up && !s->partial;
}

/* Whether one zone is at least half of what the step takes more. */
static bool has_zone(const vp_report *r, const vp_step *s)
{
    return !r->has_devices && s->grew.name &&
           s->grew.more_ps >= (s->dur_ps - r->steps.median_ps) / 2;
}

/* It waits, or runs on another thread while that with the steps does. */
static bool is_waiting(const vp_report *r, const vp_grown *zone)
{
    bool own = false;
    for (size_t i = 0; i < r->thread_count && zone->thread; i++)
        own = own ||
              (r->threads[i].steps && r->threads[i].name && r->threads[i].device == zone->device &&
               !strcmp(r->threads[i].name, zone->thread));
    return !own || wait_kind_of(vp_str_of(zone->name), VP_STR_NONE);
}

/* In all of these steps what grew in the worst. */
static const char *longer_by_zone(fd_run *run, const vp_step *worst,
                                  bool (*is_one)(const fd_run *, const vp_step *))
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
    return fd_say(run, ", %s of that by %s%s%s%s", fd_time(run, more), fd_short(run, zone->name),
                  zone->thread ? " on thread " : "",
                  zone->thread ? fd_short(run, zone->thread) : "",
                  zone->usual_ps ? fd_say(run, " (usually %s)", fd_time(run, zone->usual_ps))
                                 : ", which most steps do not have");
}

/* By which of its parts the step is longer than the others. */
static const char *longer_by(fd_run *run, const excess_of *e,
                             bool (*is_one)(const fd_run *, const vp_step *))
{
    if (!run->r->has_devices)
        return longer_by_zone(run, e->worst, is_one);
    int64_t idle = fd_sum(e->part_ps, 0, VP_CAUSES), comm = e->part_ps[FD_COMM],
            compute = e->part_ps[FD_COMPUTE];
    if (idle + comm + compute < e->total_ps / 2)
        return "";
    return fd_say(run, ", mostly by %s",
                  idle >= comm && idle >= compute ? "idle time"
                  : comm >= compute               ? "exposed communication"
                                                  : "compute");
}

static const char *step_name(fd_run *run, const vp_step *s)
{
    return s->number >= 0 ? fd_say(run, "step %lld", (long long)s->number)
           : s->name      ? fd_short(run, s->name)
                          : "a step";
}

static void place_steps(fd_run *run, bool (*is_one)(const fd_run *, const vp_step *))
{
    const vp_steps *steps = &run->r->steps;
    const vp_step *last = NULL;
    for (size_t n = 0; n < FD_PLACES_MAX; n++) {
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
            fd_place(run, best->grew.device, best->grew.thread, best->grew.start_ps,
                     best->grew.dur_ps);
        fd_place(run, best->device, best->name, best->start_ps, best->dur_ps);
        last = best;
    }
}

static void warm_up(fd_run *run)
{
    const vp_report *r = run->r;
    excess_of e = excess_over(run, is_warm_up, never);
    if (!e.count || !settle_steps(run, &e, fd_share(e.worst->dur_ps, r->steps.median_ps)))
        return;
    run->f->title = "First step slow (warm-up)";
    run->f->severity = VP_LEVEL_LOW;
    fd_message(run,
               fd_say(run,
                      "The first step takes %s, %.1f times the median of the others (%s)%s; it "
                      "is left out of the statistics.",
                      fd_time(run, e.worst->dur_ps), fd_share(e.worst->dur_ps, r->steps.median_ps),
                      fd_time(run, r->steps.median_ps),
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
        if (counts(s) && !is_regular(r, s) && s->dur_ps > most)
            most = s->dur_ps;
    }
    return most;
}

/* Too little for the window, but no noise either: a zone that most steps do not have. */
static bool is_rare_zone(fd_run *run, const excess_of *e)
{
    if (!has_zone(run->r, e->worst) || e->worst->grew.usual_ps)
        return false;
    run->f->status = VP_FIRED;
    run->f->severity = VP_LEVEL_LOW;
    return true;
}

void fd_step_outlier(fd_run *run)
{
    const vp_report *r = run->r;
    excess_of e = excess_over(run, is_outlier, is_outlier);
    run->f->value = fd_share(longest_irregular(r), r->steps.median_ps);
    if (!e.count) {
        warm_up(run);
        return;
    }
    if (!settle_steps(run, &e, fd_share(e.worst->dur_ps, r->steps.median_ps)) &&
        !is_rare_zone(run, &e))
        return;
    const vp_step_group *heavy = heavy_group(r);
    fd_message(
        run, fd_say(run,
                    "%zu of %s steps %s far slower than the median of %s: %s together%s; the "
                    "worst, %s, takes %s%s.",
                    e.count, fd_count(run, r->steps.counted), e.count == 1 ? "is" : "are",
                    fd_time(run, r->steps.median_ps), fd_time(run, e.total_ps),
                    longer_by(run, &e, is_outlier), step_name(run, e.worst),
                    fd_time(run, e.worst->dur_ps),
                    heavy ? fd_say(run, " (heavy steps come every %lld)", (long long)heavy->period)
                          : ""));
    place_steps(run, is_outlier);
}

/* ---- F13 ---- */

static bool is_usual_slow(const fd_run *run, const vp_step *s)
{
    return counts(s) && !is_outlier(run, s) && s->step_class == VP_STEP_NORMAL &&
           s->dur_ps > run->r->steps.median_ps;
}

static bool is_slow_one(const fd_run *run, const vp_step *s)
{
    return is_outlier(run, s) || is_usual_slow(run, s);
}

/* Deviation over mean of the steps without outliers and without steps of other classes. */
static double usual_cv(const fd_run *run, size_t *n)
{
    const vp_report *r = run->r;
    double sum = 0, squares = 0;
    *n = 0;
    for (size_t i = 0; i < r->steps.count; i++) {
        const vp_step *s = &r->steps.list[i];
        if (!counts(s) || is_outlier(run, s) || s->step_class != VP_STEP_NORMAL)
            continue;
        ++*n;
        sum += (double)s->dur_ps;
    }
    double mean = *n ? sum / (double)*n : 0;
    for (size_t i = 0; i < r->steps.count; i++) {
        const vp_step *s = &r->steps.list[i];
        if (!counts(s) || is_outlier(run, s) || s->step_class != VP_STEP_NORMAL)
            continue;
        squares += ((double)s->dur_ps - mean) * ((double)s->dur_ps - mean);
    }
    return mean > 0 ? squares / (double)*n / (mean * mean) : 0;
}

void fd_jitter(fd_run *run)
{
    const vp_report *r = run->r;
    const int spread = run->rule->limits[FD_SPREAD];
    size_t n;
    double squared = usual_cv(run, &n), cv = __builtin_sqrt(squared);
    run->f->value = cv;
    excess_of e = excess_over(run, is_usual_slow, is_slow_one);
    if (n < run->rule->limits[FD_NUMBER]) {
        fd_lacks(run, FD_NEED_FIVE_STEPS);
        return;
    }
    if (squared <= spread * spread / 1e6 || !e.count || !settle_steps(run, &e, cv))
        return;
    fd_message(run, fd_say(run,
                           "The lengths of %zu ordinary steps vary by %.1f %% around their mean; "
                           "what they take above the median of %s adds up to %s%s.",
                           n, 100 * cv, fd_time(run, r->steps.median_ps), fd_time(run, e.total_ps),
                           longer_by(run, &e, is_usual_slow)));
    place_steps(run, is_usual_slow);
}
