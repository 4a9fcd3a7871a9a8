/* F16 F15 F4 F5: devices that wait for each other. */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

/* ---- F16 ---- */

/* Last in a large share of the calls, and by so many standard deviations more often than one of `n`
 * equals is by chance: of two, one is last in half of the calls whoever they are. */
static bool is_last_too_often(const fd_run *run, int64_t last, int64_t matched, int64_t n)
{
    int64_t z = run->rule->limits[FD_DEVIATIONS];
    __int128 above = (__int128)n * last - matched;
    return fd_reaches(run, last, matched, FD_SHARE) && above > 0 &&
           above * above >= (__int128)z * z * matched * (n - 1);
}

static bool is_device_straggling(const fd_run *run)
{
    const vp_balance *b = &run->r->balance;
    return b->straggler < run->r->device_count &&
           is_last_too_often(run, b->straggler_last, b->matched, (int64_t)b->devices);
}

/* One device, or one host, is last too often, and the others wait for it a part of the largest
 * window. */
bool fd_straggles(const fd_run *run)
{
    const vp_report *r = run->r;
    const vp_balance *b = &r->balance;
    int64_t window = 0;
    for (size_t d = 0; d < r->device_count; d++)
        if (r->devices[d].breakdown.window_ps > window)
            window = r->devices[d].breakdown.window_ps;
    bool device = is_device_straggling(run);
    bool host = b->straggler_host &&
                is_last_too_often(run, b->straggler_host_last, b->matched, (int64_t)r->host_count);
    return b->devices >= 2 && b->matched >= run->rule->limits[FD_NUMBER] &&
           (b->aligned || r->host_count < 2) && (device || host) &&
           fd_reaches(run, b->wait_ps, window, FD_WINDOW);
}

static int64_t wait_of(const fd_run *run, uint32_t device)
{
    int64_t ps = 0;
    uint32_t i;
    for (FD_ROWS(i, &run->collectives, device))
        if (run->r->collectives[i].wait_ps > 0)
            ps += run->r->collectives[i].wait_ps;
    return ps;
}

int64_t fd_straggler_wait(const fd_run *run, uint32_t device)
{
    return run->straggling ? wait_of(run, device) : 0;
}

static const char *straggler_name(fd_run *run)
{
    const vp_balance *b = &run->r->balance;
    return is_device_straggling(run) ? fd_device(run, b->straggler)
                                     : fd_say(run, "host %s", b->straggler_host);
}

/* The longest kept call of the device's collectives: where waiting shows best. */
static void place_longest(fd_run *run, uint32_t device)
{
    const vp_collective *worst = NULL;
    size_t at = 0;
    for (size_t i = 0; i < run->r->collective_count; i++) {
        const vp_collective *c = &run->r->collectives[i];
        for (size_t k = 0; c->device == device && k < c->sample_count; k++)
            if (!worst || c->sample_dur_ps[k] > worst->sample_dur_ps[at]) {
                worst = c;
                at = k;
            }
    }
    if (worst)
        fd_place(run, device, worst->name, worst->sample_start_ps[at], worst->sample_dur_ps[at]);
}

void fd_straggler(fd_run *run)
{
    const vp_report *r = run->r;
    const vp_balance *b = &r->balance;
    int64_t last = b->straggler_last > b->straggler_host_last || !b->straggler_host
                       ? b->straggler_last
                       : b->straggler_host_last;
    run->f->value = fd_share(last, b->matched);
    if (!run->straggling)
        return;
    for (uint32_t d = 0; d < r->device_count; d++)
        if (d != b->straggler && wait_of(run, d) > 0)
            fd_offer(run, d, FD_BIT(FD_COMM), wait_of(run, d), run->f->value);
    const fd_claim *c = fd_settle(run);
    if (!c)
        return;
    fd_message(run,
               fd_say(run,
                      "%s is the last to arrive in %s of %s matched collective calls; %s waits "
                      "%s for the last one, %s of its window.",
                      straggler_name(run), fd_count(run, last), fd_count(run, b->matched),
                      fd_worst(run, c), fd_time(run, c->gross_ps),
                      fd_percent(run, c->gross_ps, fd_window(run, c->device))));
    place_longest(run, c->device);
}

/* ---- F15 ---- */

void fd_imbalance(fd_run *run)
{
    const vp_report *r = run->r;
    const vp_balance *b = &r->balance;
    if (b->busiest >= r->device_count || b->idlest >= r->device_count || b->mean_ps <= 0)
        return;
    int64_t lost = b->max_ps - b->mean_ps;
    run->f->value = fd_share(lost, b->mean_ps);
    if (!fd_exceeds(run, lost, b->mean_ps, FD_SHARE))
        return;
    fd_offer(run, b->idlest, FD_BIT(FD_COMM) | FD_ALL_IDLE, lost, run->f->value);
    const fd_claim *c = fd_settle(run);
    if (!c)
        return;
    for (uint32_t d = 0; d < r->device_count && run->f->status == VP_FIRED; d++)
        if (d != b->busiest && d != b->idlest && r->devices[d].breakdown.compute_ps > 0)
            fd_take(run, d, FD_BIT(FD_COMM) | FD_ALL_IDLE,
                    b->max_ps - r->devices[d].breakdown.compute_ps);
    fd_message(run, fd_say(run,
                           "%s computes %s, %s only %s, the mean of %zu devices %s: with equal "
                           "work the busiest would need %s less.",
                           fd_device(run, b->busiest), fd_time(run, b->max_ps),
                           fd_device(run, b->idlest), fd_time(run, b->min_ps), b->devices,
                           fd_time(run, b->mean_ps), fd_time(run, lost)));
    fd_place_in_step(run, b->busiest, NULL);
    fd_place_in_step(run, b->idlest, NULL);
}

/* ---- F4 ---- */

static const vp_collective *most_exposed(const vp_report *r, uint32_t device)
{
    const vp_collective *worst = NULL;
    for (size_t i = 0; i < r->collective_count; i++) {
        const vp_collective *c = &r->collectives[i];
        if (c->device == device && c->exposed_ps > 0 &&
            (!worst || c->exposed_ps > worst->exposed_ps))
            worst = c;
    }
    return worst;
}

static const char *say_most_exposed(fd_run *run, uint32_t device)
{
    const vp_collective *c = most_exposed(run->r, device);
    if (!c)
        return "";
    return fd_say(run, "; most of it %s (%s, %s call%s)", fd_short(run, c->name),
                  fd_time(run, c->exposed_ps), fd_count(run, c->count), c->count == 1 ? "" : "s");
}

void fd_exposed_comm(fd_run *run)
{
    const vp_report *r = run->r;
    for (uint32_t d = 0; d < r->device_count; d++) {
        int64_t ps = r->devices[d].breakdown.exposed_comm_ps;
        fd_offer_share(run, d, FD_BIT(FD_COMM), ps, fd_window(run, d), fd_exceeds);
    }
    const fd_claim *c = fd_settle(run);
    if (!c)
        return;
    fd_message(run,
               fd_say(run,
                      "%s spends %s of its window (%s of %s) in communication that no compute "
                      "hides%s.",
                      fd_worst(run, c), fd_percent(run, c->gross_ps, fd_window(run, c->device)),
                      fd_time(run, c->gross_ps), fd_time(run, fd_window(run, c->device)),
                      say_most_exposed(run, c->device)));
    place_longest(run, c->device);
}

/* ---- F5 ---- */

void fd_poor_overlap(fd_run *run)
{
    const vp_report *r = run->r;
    bool any = false;
    for (uint32_t d = 0; d < r->device_count; d++) {
        const vp_breakdown *b = &r->devices[d].breakdown;
        double hidden = fd_share(b->overlap_comm_ps, b->comm_ps);
        if (b->comm_ps < fd_limit_ps(run) || !fd_reaches(run, b->comm_ps, b->window_ps, FD_WINDOW))
            continue;
        run->f->value = any && run->f->value < hidden ? run->f->value : hidden;
        any = true;
        if (fd_reaches(run, b->overlap_comm_ps, b->comm_ps, FD_SHARE))
            continue;
        fd_offer(run, d, FD_BIT(FD_COMM),
                 fd_limit_of(run, b->comm_ps, FD_SPARED) - b->overlap_comm_ps, hidden);
    }
    const fd_claim *c = fd_settle(run);
    if (!c)
        return;
    const vp_breakdown *b = &r->devices[c->device].breakdown;
    fd_message(run, fd_say(run, "Of %s of communication on %s, %s while it computes.",
                           fd_time(run, b->comm_ps), fd_worst(run, c),
                           fd_at_least(b->overlap_comm_ps, b->comm_ps, 1)
                               ? fd_say(run, "only %s (%s) run", fd_time(run, b->overlap_comm_ps),
                                        fd_percent(run, b->overlap_comm_ps, b->comm_ps))
                               : "nothing runs"));
    place_longest(run, c->device);
}
