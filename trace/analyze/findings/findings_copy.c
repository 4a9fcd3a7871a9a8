/* F7 F6 F20: copies that the device waits for. */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

static const char *direction_name(vp_direction d)
{
    static const char *const names[] = {"host→device", "device→host", "device→device", "peer→peer",
                                        "infeed",      "outfeed",     "memset",        "other"};
    return names[d];
}

static int64_t limit_copy_time(int64_t ps, int64_t limit)
{
    return ps < limit ? ps : limit;
}

/* ---- F7 ---- */

static int64_t pageable_of(const fnd_run *run, uint32_t device, int64_t *count,
                           const vp_transfer **largest)
{
    int64_t ps = 0;
    uint32_t i;
    *count = 0;
    for (FND_ROWS(i, &run->transfers, device)) {
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

void fnd_pageable(fnd_run *run)
{
    const vp_report *r = run->r;
    const vp_transfer *t = NULL;
    int64_t count;
    for (uint32_t d = 0; d < r->device_count; d++) {
        const vp_transfer *largest = NULL;
        int64_t ps =
            limit_copy_time(pageable_of(run, d, &count, &largest), r->devices[d].breakdown.copy_ps);
        double share = fnd_share(ps, fnd_window(run, d));
        fnd_keep_value(run, share);
        if (ps >= fnd_limit_ps(run) || fnd_exceeds(run, ps, fnd_window(run, d), FND_SHARE))
            fnd_offer(run, d, FND_BIT(FND_COPY + VP_H2D) | FND_BIT(FND_COPY + VP_D2H), ps, share);
    }
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    (void)pageable_of(run, c->device, &count, &t);
    fnd_message(run, fnd_say(run,
                             "%s: %s cop%s between device and pageable host memory take %s (%s of "
                             "its window), mostly %s.",
                             fnd_worst(run, c), fnd_count(run, count), count == 1 ? "y" : "ies",
                             fnd_time(run, c->gross_ps),
                             fnd_percent(run, c->gross_ps, fnd_window(run, c->device)),
                             direction_name(t->direction)));
    fnd_place(run, c->device, NULL, t->largest_start_ps, t->largest_dur_ps);
}

/* ---- F6 ---- */

static bool is_costly(const fnd_run *run, const vp_transfer *t, uint32_t device)
{
    const uint16_t *limits = fnd_rule_of(run, fnd_transfers)->limits;
    int64_t window = fnd_window(run, device), steps = run->r->steps.counted;
    if (t->direction != VP_H2D && t->direction != VP_D2H)
        return false;
    if (fnd_above(t->exposed_ps, window, limits[FND_SHARE]))
        return true;
    return steps > 0 && t->exposed_count > limits[FND_NUMBER] * steps &&
           !fnd_too_little(t->exposed_ps, window);
}

/* The exposed time of copies on the device, in the directions above the threshold, and their cells.
 * Copies may run concurrently: it is the union of their times. */
static int64_t on_device(fnd_run *run, uint32_t device, uint32_t *cells)
{
    int64_t sum = 0;
    uint32_t i;
    for (FND_ROWS(i, &run->transfers, device)) {
        const vp_transfer *t = &run->r->transfers[i];
        if (t->exposed_ps <= 0)
            continue;
        if (t->direction == VP_H2D || t->direction == VP_D2H)
            fnd_keep_value(run, fnd_share(t->exposed_ps, fnd_window(run, device)));
        if (t->host_only || !is_costly(run, t, device))
            continue;
        sum += t->exposed_ps;
        *cells |= FND_BIT(FND_COPY + t->direction);
    }
    return limit_copy_time(sum, run->r->devices[device].breakdown.exposed_copy_ps);
}

bool fnd_waits_for_host_copies(const fnd_run *run, uint32_t device)
{
    int64_t ps = run->devices[device].whole_ps[VP_CAUSE_TRANSFER];
    bool many = false;
    uint32_t i;
    for (FND_ROWS(i, &run->transfers, device))
        many = many ||
               (run->r->transfers[i].host_only && is_costly(run, &run->r->transfers[i], device));
    return fnd_above(ps, fnd_window(run, device),
                     fnd_rule_of(run, fnd_transfers)->limits[FND_SHARE]) ||
           (many && !fnd_too_little(ps, fnd_window(run, device)));
}

/* Time that ops of a CPU device lose to copies on the same cores. */
static int64_t slowed_by_copies(const fnd_run *run, uint32_t device)
{
    int64_t ps = run->r->devices[device].hygiene.copy_slowed_ps;
    int64_t compute = run->devices[device].whole_ps[FND_COMPUTE];
    return ps < 0 ? 0 : ps < compute ? ps : compute;
}

static void offer_transfers(fnd_run *run, uint32_t device)
{
    uint32_t cells = 0;
    int64_t ps = on_device(run, device, &cells), slowed = 0;
    if (fnd_waits_for_host_copies(run, device)) {
        slowed = slowed_by_copies(run, device);
        ps += run->devices[device].whole_ps[VP_CAUSE_TRANSFER] + slowed;
        cells |= FND_BIT(VP_CAUSE_TRANSFER);
    }
    if (ps > 0)
        fnd_offer(run, device, cells, ps, fnd_share(ps, fnd_window(run, device)))
            ->part_ps[FND_COMPUTE] = slowed;
}

/* For example "57.77 s host→device (200 copies, 12.3 GiB, from train.py:20)". */
static const char *say_transfer(fnd_run *run, const vp_transfer *t)
{
    return fnd_say(run, "%s %s (%s cop%s%s%s%s%s)", fnd_time(run, t->exposed_ps),
                   direction_name(t->direction), fnd_count(run, t->count),
                   t->count == 1 ? "y" : "ies", t->bytes > 0 ? ", " : "",
                   t->bytes > 0 ? fnd_bytes(run, t->bytes) : "", t->caller ? ", from " : "",
                   t->caller ? fnd_path(run, t->caller) : "");
}

static const vp_transfer *transfer_of(const fnd_run *run, uint32_t device, vp_direction d)
{
    uint32_t i;
    for (FND_ROWS(i, &run->transfers, device)) {
        const vp_transfer *t = &run->r->transfers[i];
        if (t->direction == d && is_costly(run, t, device))
            return t;
    }
    return NULL;
}

static const char cpu_advice[] =
    "A CPU device shares the host's memory, so most copies are avoidable: keep data in jax.Arrays "
    "between steps, copy constant data once before the loop, pass contiguous numpy arrays of the "
    "final dtype aligned to 64 bytes (they are used without a copy), prepare the next batch in "
    "another thread, and read results every N steps.";
static const char host_advice[] =
    "Keep data on the device between steps. Send the next batch while this one computes "
    "(jax.device_put from a thread, two batches ahead), as a few large arrays from pinned_host "
    "memory. Read results every N steps with copy_to_host_async.";

/* TPUs that wait in copy-done wait for offloading; on other devices the program itself copies. */
static void advise_on_copies(fnd_run *run, uint32_t device, bool offload)
{
    if (offload || run->words != FND_WORDS_XLA)
        return;
    run->f->suggestion = run->r->devices[device].kind == VP_DEVICE_CPU ? cpu_advice : host_advice;
}

static void place_copies(fnd_run *run, uint32_t device, const vp_transfer *first,
                         const vp_transfer *second)
{
    if (first)
        fnd_place(run, device, NULL, first->largest_start_ps, first->largest_dur_ps);
    if (second)
        fnd_place(run, device, NULL, second->largest_start_ps, second->largest_dur_ps);
    if (!first)
        fnd_gap_places(run, FND_BIT(VP_CAUSE_TRANSFER));
}

/* The caller of copies: "attend, called by train (train.py:20), copies its argument biases
 * f32[48,512,512], 48.0 MiB, in each call". */
static const char *say_caller(fnd_run *run, const vp_transfer *t)
{
    const char *caller = t->caller ? fnd_path(run, t->caller) : NULL;
    if (!t->function)
        return caller ? fnd_say(run, "; mostly by %s", caller) : "";
    return fnd_say(run, "; %s%s%s is called with arrays of the host%s%s%s", t->function,
                   caller ? " in " : "", caller ? caller : "", t->argument ? ": " : "",
                   t->argument ? t->argument : "", t->argument ? ", is copied in each call" : "");
}

/* The part of a claim that no row of transfers explains: spans of the host. */
static const char *say_host(fnd_run *run, const fnd_claim *c, const vp_transfer *first, bool rows)
{
    const vp_idle_label *l = fnd_idle_labels(run, c->device, FND_BIT(VP_CAUSE_TRANSFER)).label;
    const char *slowed = c->part_ps[FND_COMPUTE] && !fnd_too_little(c->part_ps[FND_COMPUTE],
                                                                    fnd_window(run, c->device))
                             ? fnd_say(run, "; ops take %s longer while the host copies",
                                       fnd_time(run, c->part_ps[FND_COMPUTE]))
                             : "";
    if (!l || !c->part_ps[VP_CAUSE_TRANSFER])
        return slowed;
    if (first && (first->function || (first->caller && !l->user)))
        return fnd_say(run, "%s%s", say_caller(run, first), slowed);
    return fnd_say(run, "; %s %s%s", rows ? "on the host mostly in" : "mostly in",
                   fnd_label(run, l), slowed);
}

void fnd_transfers(fnd_run *run)
{
    const vp_report *r = run->r;
    for (uint32_t d = 0; d < r->device_count; d++)
        offer_transfers(run, d);
    const fnd_claim *c = fnd_settle(run);
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
                              ? ", partly at the same time"
                              : "";
    bool rows = first && !first->host_only;
    fnd_message(run, fnd_say(run, "%s waits %s of its window (%s of %s) for copies%s%s%s%s%s%s%s.",
                             fnd_worst(run, c),
                             fnd_percent(run, c->gross_ps, fnd_window(run, c->device)),
                             fnd_time(run, c->gross_ps), fnd_time(run, fnd_window(run, c->device)),
                             offload ? " in copy-done" : "", rows ? ": " : "",
                             rows ? say_transfer(run, first) : "", rows && second ? " and " : "",
                             rows && second ? say_transfer(run, second) : "", rows ? at_once : "",
                             say_host(run, c, first, rows)));
    advise_on_copies(run, c->device, offload);
    place_copies(run, c->device, first, second);
}

/* ---- F20 ---- */

/* Self time of "-done" ops by class; zero if ops are not grouped by name. */
static void done_by_class(const fnd_run *run, uint32_t device, int64_t out[3], const vp_op **worst)
{
    uint32_t i;
    *worst = NULL;
    out[0] = out[1] = out[2] = 0;
    for (FND_ROWS(i, &run->ops, device)) {
        const vp_op *op = &run->r->ops[i];
        vp_str name = vp_str_of(op->name);
        if (vp_str_find(name, VP_STR("-done")) == name.n)
            continue;
        out[op->op_class] += op->self_ps;
        if (!*worst || op->self_ps > (*worst)->self_ps)
            *worst = op;
    }
}

static int64_t positive_or_zero(int64_t ps)
{
    return ps > 0 ? ps : 0;
}

static void offer_async(fnd_run *run, uint32_t d)
{
    const vp_device *dev = &run->r->devices[d];
    const int64_t *whole = run->devices[d].whole_ps;
    const vp_op *worst;
    int64_t done[3], wait = dev->hygiene.async_done_ps;
    if (wait <= 0 || !fnd_reaches(run, wait, dev->self_ps, FND_SHARE))
        return;
    done_by_class(run, d, done, &worst);
    int64_t comm = positive_or_zero(done[VP_COMMUNICATION] - fnd_straggler_wait(run, d));
    int64_t other = positive_or_zero(wait - done[VP_COMMUNICATION] - done[VP_COPY]);
    fnd_claim *c = fnd_offer(run, d, FND_ALL_COPY, wait, fnd_share(wait, dev->self_ps));
    c->part_ps[FND_COMM] = comm < whole[FND_COMM] ? comm : whole[FND_COMM];
    if (done[VP_COMPUTE])
        c->part_ps[FND_COMPUTE] = other < whole[FND_COMPUTE] ? other : whole[FND_COMPUTE];
}

void fnd_async_wait(fnd_run *run)
{
    const vp_report *r = run->r;
    const vp_op *worst;
    int64_t done[3];
    for (uint32_t d = 0; d < r->device_count; d++) {
        fnd_keep_value(run, fnd_share(r->devices[d].hygiene.async_done_ps, r->devices[d].self_ps));
        offer_async(run, d);
    }
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    done_by_class(run, c->device, done, &worst);
    fnd_message(
        run,
        fnd_say(run, "%s spends %s of its op time (%s of %s) in the -done half of async ops%s%s.",
                fnd_worst(run, c), fnd_percent(run, c->gross_ps, r->devices[c->device].self_ps),
                fnd_time(run, c->gross_ps), fnd_time(run, r->devices[c->device].self_ps),
                worst ? "; the largest: " : "",
                worst ? fnd_say(run, "%s, %s call%s, %s", fnd_short(run, worst->name),
                                fnd_count(run, worst->calls), worst->calls == 1 ? "" : "s",
                                fnd_time(run, worst->self_ps))
                      : ""));
    if (worst)
        fnd_place(run, c->device, NULL, worst->slowest_start_ps, worst->slowest_dur_ps);
}
