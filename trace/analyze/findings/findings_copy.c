/* F7 F6 F20: copies that the device waits for. */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

static const char *direction_name(vp_direction d)
{
    static const char *const names[] = {"host→device", "device→host", "device→device", "peer→peer",
                                        "infeed",      "outfeed",     "memset",        "other"};
    return names[d];
}

static int64_t at_most(int64_t ps, int64_t limit)
{
    return ps < limit ? ps : limit;
}

/* ---- F7 ---- */

static int64_t pageable_of(const fd_run *run, uint32_t device, int64_t *count,
                           const vp_transfer **largest)
{
    int64_t ps = 0;
    uint32_t i;
    *count = 0;
    for (FD_ROWS(i, &run->transfers, device)) {
        const vp_transfer *t = &run->r->transfers[i];
        if ((t->direction != VP_H2D && t->direction != VP_D2H) || t->pageable_count <= 0 ||
            t->pageable_ps <= 0)
            continue;
        ps += t->pageable_ps;
        *count += t->pageable_count;
        if (!*largest || t->pageable_ps > (*largest)->pageable_ps)
            *largest = t;
    }
    return ps;
}

void fd_pageable(fd_run *run)
{
    const vp_report *r = run->r;
    const vp_transfer *t = NULL;
    int64_t count;
    for (uint32_t d = 0; d < r->device_count; d++) {
        const vp_transfer *largest = NULL;
        int64_t ps =
            at_most(pageable_of(run, d, &count, &largest), r->devices[d].breakdown.copy_ps);
        double share = fd_share(ps, fd_window(run, d));
        fd_keep_value(run, share);
        if (ps >= fd_limit_ps(run) || fd_exceeds(run, ps, fd_window(run, d), FD_SHARE))
            fd_offer(run, d, FD_BIT(FD_COPY + VP_H2D) | FD_BIT(FD_COPY + VP_D2H), ps, share);
    }
    const fd_claim *c = fd_settle(run);
    if (!c)
        return;
    (void)pageable_of(run, c->device, &count, &t);
    fd_message(run, fd_say(run,
                           "%s: %s cop%s between device and pageable host memory take %s, %s of "
                           "its window, most of them %s.",
                           fd_worst(run, c), fd_count(run, count), count == 1 ? "y" : "ies",
                           fd_time(run, c->gross_ps),
                           fd_percent(run, c->gross_ps, fd_window(run, c->device)),
                           direction_name(t->direction)));
    fd_place(run, c->device, NULL, t->largest_start_ps, t->largest_dur_ps);
}

/* ---- F6 ---- */

static bool is_costly(const fd_run *run, const vp_transfer *t, uint32_t device)
{
    const uint16_t *limits = fd_rule_of(run, fd_transfers)->limits;
    int64_t window = fd_window(run, device), steps = run->r->steps.counted;
    if (t->direction != VP_H2D && t->direction != VP_D2H)
        return false;
    if (fd_above(t->exposed_ps, window, limits[FD_SHARE]))
        return true;
    return steps > 0 && t->exposed_count > limits[FD_NUMBER] * steps &&
           !fd_too_little(t->exposed_ps, window);
}

/* Copies on the device, in the directions that cost. They may run at the same time: their union is
 * the device's exposed time. */
static int64_t on_device(fd_run *run, uint32_t device, uint32_t *cells)
{
    int64_t sum = 0;
    uint32_t i;
    for (FD_ROWS(i, &run->transfers, device)) {
        const vp_transfer *t = &run->r->transfers[i];
        if (t->exposed_ps <= 0)
            continue;
        if (t->direction == VP_H2D || t->direction == VP_D2H)
            fd_keep_value(run, fd_share(t->exposed_ps, fd_window(run, device)));
        if (t->host_only || !is_costly(run, t, device))
            continue;
        sum += t->exposed_ps;
        *cells |= FD_BIT(FD_COPY + t->direction);
    }
    return at_most(sum, run->r->devices[device].breakdown.exposed_copy_ps);
}

bool fd_waits_for_host_copies(const fd_run *run, uint32_t device)
{
    int64_t ps = run->devices[device].whole_ps[VP_CAUSE_TRANSFER];
    bool many = false;
    uint32_t i;
    for (FD_ROWS(i, &run->transfers, device))
        many = many ||
               (run->r->transfers[i].host_only && is_costly(run, &run->r->transfers[i], device));
    return fd_above(ps, fd_window(run, device), fd_rule_of(run, fd_transfers)->limits[FD_SHARE]) ||
           (many && !fd_too_little(ps, fd_window(run, device)));
}

static void offer_transfers(fd_run *run, uint32_t device)
{
    uint32_t cells = 0;
    int64_t ps = on_device(run, device, &cells);
    if (fd_waits_for_host_copies(run, device)) {
        ps += run->devices[device].whole_ps[VP_CAUSE_TRANSFER];
        cells |= FD_BIT(VP_CAUSE_TRANSFER);
    }
    if (ps > 0)
        fd_offer(run, device, cells, ps, fd_share(ps, fd_window(run, device)));
}

/* "57.77 s host→device (200 copies, 12.3 GiB)". */
static const char *say_transfer(fd_run *run, const vp_transfer *t)
{
    return fd_say(run, "%s %s (%s cop%s%s%s)", fd_time(run, t->exposed_ps),
                  direction_name(t->direction), fd_count(run, t->count),
                  t->count == 1 ? "y" : "ies", t->bytes > 0 ? ", " : "",
                  t->bytes > 0 ? fd_bytes(run, t->bytes) : "");
}

static const vp_transfer *transfer_of(const fd_run *run, uint32_t device, vp_direction d)
{
    uint32_t i;
    for (FD_ROWS(i, &run->transfers, device)) {
        const vp_transfer *t = &run->r->transfers[i];
        if (t->direction == d && is_costly(run, t, device))
            return t;
    }
    return NULL;
}

static const char cpu_advice[] =
    "A CPU device shares the host's memory, so most copies can go: keep data in jax.Arrays from "
    "step to step, put what does not change there once before the loop, hand over numpy arrays of "
    "the final dtype that are contiguous and aligned to 64 bytes (they are taken as they are), "
    "prepare the next batch in another thread, and read results every N steps.";
static const char host_advice[] =
    "Keep data on the device from step to step; send the next batch while this one computes "
    "(jax.device_put from a thread, two batches ahead), as few large arrays and from pinned_host "
    "memory; and read results every N steps, by copy_to_host_async.";

/* Offloading is what TPUs wait for in copy-done; elsewhere it is the program that copies. */
static void advise(fd_run *run, uint32_t device, bool offload)
{
    if (offload || run->words != FD_WORDS_XLA)
        return;
    run->f->suggestion = run->r->devices[device].kind == VP_DEVICE_CPU ? cpu_advice : host_advice;
}

static void place_copies(fd_run *run, uint32_t device, const vp_transfer *first,
                         const vp_transfer *second)
{
    if (first)
        fd_place(run, device, NULL, first->largest_start_ps, first->largest_dur_ps);
    if (second)
        fd_place(run, device, NULL, second->largest_start_ps, second->largest_dur_ps);
    if (!first)
        fd_gap_places(run, FD_BIT(VP_CAUSE_TRANSFER));
}

/* What of a claim no row of transfers tells: the host's spans. */
static const char *say_host(fd_run *run, const fd_claim *c, bool rows)
{
    const vp_idle_label *l = fd_idle_labels(run, c->device, FD_BIT(VP_CAUSE_TRANSFER)).label;
    return l && c->part_ps[VP_CAUSE_TRANSFER]
               ? fd_say(run, "; %s %s", rows ? "on the host mostly" : "mostly", fd_label(run, l))
               : "";
}

void fd_transfers(fd_run *run)
{
    const vp_report *r = run->r;
    for (uint32_t d = 0; d < r->device_count; d++)
        offer_transfers(run, d);
    const fd_claim *c = fd_settle(run);
    if (!c)
        return;
    const vp_transfer *first = transfer_of(run, c->device, VP_H2D);
    const vp_transfer *second = transfer_of(run, c->device, VP_D2H);
    if (!first || (second && second->exposed_ps > first->exposed_ps)) {
        const vp_transfer *t = first;
        first = second;
        second = t;
    }
    bool offload = r->devices[c->device].kind == VP_DEVICE_TPU && first && !first->host_only;
    const char *at_once = second && first->exposed_ps + second->exposed_ps > c->gross_ps
                              ? ", in part at the same time"
                              : "";
    bool rows = first && !first->host_only;
    fd_message(run,
               fd_say(run, "%s waits %s of its window (%s of %s) for copies%s%s%s%s%s%s%s.",
                      fd_worst(run, c), fd_percent(run, c->gross_ps, fd_window(run, c->device)),
                      fd_time(run, c->gross_ps), fd_time(run, fd_window(run, c->device)),
                      offload ? " in copy-done" : "", rows ? ": " : "",
                      rows ? say_transfer(run, first) : "", rows && second ? " and " : "",
                      rows && second ? say_transfer(run, second) : "", rows ? at_once : "",
                      say_host(run, c, rows)));
    advise(run, c->device, offload);
    place_copies(run, c->device, first, second);
}

/* ---- F20 ---- */

/* Self time of "-done" ops by class; zero where ops are not grouped by name. */
static void done_by_class(const fd_run *run, uint32_t device, int64_t out[3], const vp_op **worst)
{
    uint32_t i;
    *worst = NULL;
    out[0] = out[1] = out[2] = 0;
    for (FD_ROWS(i, &run->ops, device)) {
        const vp_op *op = &run->r->ops[i];
        vp_str name = vp_str_of(op->name);
        if (vp_str_find(name, VP_STR("-done")) == name.n)
            continue;
        out[op->op_class] += op->self_ps;
        if (!*worst || op->self_ps > (*worst)->self_ps)
            *worst = op;
    }
}

static int64_t positive(int64_t ps)
{
    return ps > 0 ? ps : 0;
}

static void offer_async(fd_run *run, uint32_t d)
{
    const vp_device *dev = &run->r->devices[d];
    const int64_t *whole = run->devices[d].whole_ps;
    const vp_op *worst;
    int64_t done[3], wait = dev->hygiene.async_done_ps;
    if (wait <= 0 || !fd_reaches(run, wait, dev->self_ps, FD_SHARE))
        return;
    done_by_class(run, d, done, &worst);
    int64_t comm = positive(done[VP_COMMUNICATION] - fd_straggler_wait(run, d));
    int64_t other = positive(wait - done[VP_COMMUNICATION] - done[VP_COPY]);
    fd_claim *c = fd_offer(run, d, FD_ALL_COPY, wait, fd_share(wait, dev->self_ps));
    c->part_ps[FD_COMM] = comm < whole[FD_COMM] ? comm : whole[FD_COMM];
    if (done[VP_COMPUTE])
        c->part_ps[FD_COMPUTE] = other < whole[FD_COMPUTE] ? other : whole[FD_COMPUTE];
}

void fd_async_wait(fd_run *run)
{
    const vp_report *r = run->r;
    const vp_op *worst;
    int64_t done[3];
    for (uint32_t d = 0; d < r->device_count; d++) {
        fd_keep_value(run, fd_share(r->devices[d].hygiene.async_done_ps, r->devices[d].self_ps));
        offer_async(run, d);
    }
    const fd_claim *c = fd_settle(run);
    if (!c)
        return;
    done_by_class(run, c->device, done, &worst);
    fd_message(run,
               fd_say(run,
                      "%s spends %s of its op time (%s of %s) in the -done half of async ops%s%s.",
                      fd_worst(run, c), fd_percent(run, c->gross_ps, r->devices[c->device].self_ps),
                      fd_time(run, c->gross_ps), fd_time(run, r->devices[c->device].self_ps),
                      worst ? "; the largest: " : "",
                      worst ? fd_say(run, "%s, %s call%s, %s", fd_short(run, worst->name),
                                     fd_count(run, worst->calls), worst->calls == 1 ? "" : "s",
                                     fd_time(run, worst->self_ps))
                            : ""));
    if (worst)
        fd_place(run, c->device, NULL, worst->slowest_start_ps, worst->slowest_dur_ps);
}
