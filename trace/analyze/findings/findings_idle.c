/* F14 F8 F9 F3 F1: causes of idle time. */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

static int64_t idle_cause_ps(const fnd_run *run, uint32_t device, vp_cause c)
{
    return run->devices[device].whole_ps[FND_IDLE + c];
}

/* The causes for which the host is late, without the copies of F6. */
static uint32_t late_causes(const fnd_run *run, uint32_t device)
{
    return fnd_waits_for_host_copies(run, device) ? FND_HOST_LATE & ~FND_BIT(VP_CAUSE_TRANSFER)
                                                  : FND_HOST_LATE;
}

static int64_t idle_ps_of_causes(const fnd_run *run, uint32_t device, uint32_t causes)
{
    int64_t sum = 0;
    for (unsigned k = 0; k < FND_CELLS; k++)
        sum += causes & FND_ALL_IDLE & FND_BIT(k) ? run->devices[device].whole_ps[k] : 0;
    return sum;
}

static int64_t host_late(const fnd_run *run, uint32_t device)
{
    return idle_ps_of_causes(run, device, late_causes(run, device));
}

/* The causes that no earlier rule claims; if each is claimed by one, all of them. */
static uint32_t own_causes(const fnd_run *run, uint32_t device, uint32_t causes)
{
    uint32_t own = 0;
    for (unsigned k = 0; k < FND_CELLS; k++)
        if ((causes & FND_BIT(k)) && !(run->devices[device].takers[k] & ~run->rule_bit))
            own |= FND_BIT(k);
    return own ? own : causes;
}

const char *fnd_main_idle_label(fnd_run *run, const fnd_claim *c, uint32_t causes)
{
    uint32_t own = own_causes(run, c->device, causes);
    if (c->rest_ps <= 0 || 2 * idle_ps_of_causes(run, c->device, own) < c->rest_ps)
        own = causes;
    const fnd_idle_parts p = fnd_idle_labels(run, c->device, own);
    int64_t whole = idle_ps_of_causes(run, c->device, own),
            largest = p.label ? p.label->total_ps : 0;
    largest = p.silent_ps > largest ? p.silent_ps : largest;
    largest = p.latency_ps > largest ? p.latency_ps : largest;
    if (!largest)
        return "";
    const char *much = 2 * largest > whole ? "most" : "the largest part";
    much = own == causes ? fnd_say(run, "%s of it", much)
                         : fnd_say(run, "of %s not claimed by findings above, %s",
                                   fnd_time(run, whole), much);
    if (p.label && p.label->total_ps == largest)
        return fnd_say(run, "; %s in %s", much, fnd_label(run, p.label));
    return fnd_say(run, "; %s (%s) %s", much, fnd_time(run, largest),
                   p.silent_ps == largest ? "while nothing was recorded on the host"
                                          : "is latency: work was launched but had not started");
}

/* ---- F14 ---- */

static void place_infeed(fnd_run *run)
{
    for (size_t i = 0; i < run->r->transfer_count; i++) {
        const vp_transfer *t = &run->r->transfers[i];
        if (t->direction == VP_INFEED && t->device < run->r->device_count && t->count > 0)
            fnd_place(run, t->device, "infeed", t->largest_start_ps, t->largest_dur_ps);
    }
}

/* F14. The time of infeed ops is a wait; for idle time the host's labels decide. */
void fnd_input_bound(fnd_run *run)
{
    const vp_report *r = run->r;
    const uint32_t cells = FND_BIT(VP_CAUSE_INPUT) | FND_BIT(FND_COPY + VP_INFEED);
    bool infeed = false;
    if (!r->has_devices) {
        fnd_host_input(run);
        return;
    }
    for (uint32_t d = 0; d < r->device_count; d++)
        infeed = infeed || run->devices[d].whole_ps[FND_COPY + VP_INFEED] > 0;
    if (!infeed && !fnd_has_causes(r)) {
        fnd_lacks(run, FND_NEED_CAUSES);
        return;
    }
    for (uint32_t d = 0; d < r->device_count; d++) {
        int64_t ps =
            idle_cause_ps(run, d, VP_CAUSE_INPUT) + run->devices[d].whole_ps[FND_COPY + VP_INFEED];
        fnd_offer_share(run, d, cells, ps, fnd_window(run, d), fnd_exceeds);
    }
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    fnd_message(run, fnd_say(run, "%s waits for input data for %s of its window (%s of %s)%s.",
                             fnd_worst(run, c),
                             fnd_percent(run, c->gross_ps, fnd_window(run, c->device)),
                             fnd_time(run, c->gross_ps), fnd_time(run, fnd_window(run, c->device)),
                             fnd_main_idle_label(run, c, FND_BIT(VP_CAUSE_INPUT))));
    /* On CPU devices, a thread that runs Python code takes the GIL and cores from the program. */
    if (r->devices[c->device].kind == VP_DEVICE_CPU)
        fnd_advise_loader(run, c->device);
    fnd_gap_places(run, FND_BIT(VP_CAUSE_INPUT));
    place_infeed(run);
}

/* ---- F8 ---- */

static const char free_advice[] =
    "Freeing device memory blocks until the device is idle. Keep torch.cuda.empty_cache() out of "
    "the loop, and warm up before recording. Leave the allocator free memory (smaller batches, "
    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True), so that it does not have to free blocks "
    "and retry.";

static bool frees_memory(const char *name)
{
    static const char *const calls[] = {"cudaFree", "hipFree", "cuMemFree"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (vp_str_starts(vp_str_of(name), vp_str_of(calls[i])))
            return true;
    return false;
}

/* What blocks: a function that reads results one by one, the waits of the program as a whole, or
 * calls of which only their idle time is known. */
typedef struct blocking {
    int64_t ps, run_ps;
    const vp_user_function *reader;
    const char *waiter;
    bool is_predicted;
} blocking;

static blocking find_blocking(const fnd_run *run, uint32_t d)
{
    const fnd_host *host = fnd_host_of(run, run->r->devices[d].host);
    const fnd_function f = fnd_costly_function(run, d);
    int64_t idle = idle_cause_ps(run, d, VP_CAUSE_SYNC) + idle_cause_ps(run, d, VP_CAUSE_UNKNOWN);
    int64_t waits = host ? host->wait_ps : 0;
    blocking b = {.ps = waits < idle ? waits : idle};
    const char *waiter;
    int64_t unwaited = fnd_unwaited(run, d, &waiter);
    if (f.role == FND_ROLE_READS && f.saved_ps > b.ps && f.saved_ps > unwaited)
        return (blocking){f.saved_ps, f.run_ps, f.f, NULL, true};
    return waiter && unwaited > b.ps ? (blocking){unwaited, 0, NULL, waiter, true} : b;
}

static void offer_blocking(fnd_run *run, uint32_t d)
{
    const blocking b = find_blocking(run, d);
    int64_t window = fnd_window(run, d);
    double share = fnd_share(b.ps, window);
    if (!b.is_predicted) {
        fnd_offer_share(run, d, FND_BIT(VP_CAUSE_SYNC) | FND_BIT(VP_CAUSE_UNKNOWN), b.ps, window,
                        fnd_reaches);
        return;
    }
    fnd_keep_value(run, share);
    if (fnd_reaches(run, b.ps, window, FND_SHARE))
        fnd_offer_predicted(run, d, b.ps, b.run_ps, share);
}

static const char *reads_text(fnd_run *run, const fnd_claim *c, const blocking *b)
{
    const char *device = fnd_worst(run, c);
    if (b->reader)
        return fnd_say(run,
                       "%s reads results one by one: %s in %s call%s, each of which waits for %s.",
                       fnd_path(run, b->reader->name), fnd_count(run, b->reader->reads),
                       fnd_count(run, b->reader->calls), b->reader->calls == 1 ? "" : "s", device);
    return fnd_say(run,
                   "%s waits for results before it launches more work, and %s is idle meanwhile.",
                   fnd_path(run, b->waiter), device);
}

/* The waits of calls without a prediction. */
static const char *blocked_text(fnd_run *run, const fnd_claim *c, const vp_host_op *op)
{
    /* The call blocked for longer than the device was idle by such calls; the share of this call is
     * unknown. */
    bool known = fnd_blocked(op) <= c->gross_ps;
    return fnd_say(run,
                   "%s is idle for %s of its window (%s of %s) while the host waits in a "
                   "blocking call: %s (%s call%s%s%s).",
                   fnd_worst(run, c), fnd_percent(run, c->gross_ps, fnd_window(run, c->device)),
                   fnd_time(run, c->gross_ps), fnd_time(run, fnd_window(run, c->device)),
                   fnd_short(run, op->name), fnd_count(run, op->calls), op->calls == 1 ? "" : "s",
                   known ? ", " : "", known ? fnd_time(run, fnd_blocked(op)) : "");
}

void fnd_sync_call(fnd_run *run)
{
    const vp_report *r = run->r;
    for (uint32_t d = 0; d < r->device_count; d++)
        offer_blocking(run, d);
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    const blocking b = find_blocking(run, c->device);
    if (b.is_predicted) {
        fnd_message(run, reads_text(run, c, &b));
        fnd_predicted(run, c->device);
        if (b.reader)
            fnd_place(run, c->device, NULL, b.reader->max_start_ps, b.reader->max_ps);
        fnd_gap_places(run, FND_HOST_WAITS);
        return;
    }
    const vp_host_op *op = fnd_host_of(run, r->devices[c->device].host)->wait_op;
    fnd_message(run, blocked_text(run, c, op));
    fnd_gap_places(run, FND_BIT(VP_CAUSE_SYNC));
    if (frees_memory(op->name) && run->words != FND_WORDS_NATIVE)
        run->f->suggestion = free_advice;
    if (!run->f->where_count)
        fnd_place(run, c->device, op->thread, op->max_start_ps, op->max_ps);
}

/* ---- F9 ---- */

static int64_t clamp_to_cause(const fnd_run *run, uint32_t device, vp_cause c, int64_t ps)
{
    int64_t whole = idle_cause_ps(run, device, c);
    return ps < 0 ? 0 : ps < whole ? ps : whole;
}

bool fnd_is_launched(const fnd_run *run, uint32_t device)
{
    const vp_device *d = &run->r->devices[device];
    return d->launch.calls > 0 ||
           (d->kind == VP_DEVICE_GPU && idle_cause_ps(run, device, VP_CAUSE_CALL));
}

/* F9: the time that a device waits for a launch while only the next kernel is queued: the launch
 * itself, and until the kernel begins. Without correlations, the gaps under executions are used. */
static void offer_launches(fnd_run *run, uint32_t d, double value)
{
    const vp_launch *l = &run->r->devices[d].launch;
    int64_t late = host_late(run, d);
    int64_t call =
        clamp_to_cause(run, d, VP_CAUSE_CALL, l->calls > 0 ? l->starved_call_ps : INT64_MAX);
    int64_t latency = clamp_to_cause(run, d, VP_CAUSE_LATENCY, l->starved_latency_ps);
    int64_t ps = late + call + latency;
    if (l->kernel_p50_ps >= fnd_limit_ps(run) ||
        !fnd_exceeds(run, l->short_kernels, l->kernels, FND_PART) ||
        !fnd_exceeds(run, ps, fnd_window(run, d), FND_WINDOW))
        return;
    fnd_claim *c = fnd_offer(run, d, late_causes(run, d), ps, value);
    c->part_ps[VP_CAUSE_CALL] = call;
    c->part_ps[VP_CAUSE_LATENCY] = latency;
}

void fnd_launch_bound(fnd_run *run)
{
    const vp_report *r = run->r;
    for (uint32_t d = 0; d < r->device_count; d++) {
        const vp_launch *l = &r->devices[d].launch;
        if (!fnd_is_launched(run, d) || l->kernels < run->rule->limits[FND_NUMBER] ||
            l->kernel_p50_ps < 0)
            continue;
        double value = (double)l->kernel_p50_ps / 1e6;
        run->f->value = run->claim_count ? run->f->value : value;
        offer_launches(run, d, value);
    }
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    const vp_launch *l = &r->devices[c->device].launch;
    const int64_t *by = c->part_ps;
    int64_t call = by[VP_CAUSE_CALL], latency = by[VP_CAUSE_LATENCY];
    fnd_message(
        run,
        fnd_say(
            run,
            "%s runs %s kernels with a median of %s, %s of them below 10 µs, and waits %s of its "
            "window (%s of %s) for launches: %s until the host calls, %s in the call, %s until the "
            "kernel starts.",
            fnd_worst(run, c), fnd_count(run, l->kernels), fnd_time(run, l->kernel_p50_ps),
            fnd_percent(run, l->short_kernels, l->kernels),
            fnd_percent(run, c->gross_ps, fnd_window(run, c->device)), fnd_time(run, c->gross_ps),
            fnd_time(run, fnd_window(run, c->device)), fnd_time(run, c->gross_ps - call - latency),
            fnd_time(run, call), fnd_time(run, latency)));
    fnd_gap_places(run, FND_HOST_LATE | FND_BIT(VP_CAUSE_CALL) | FND_BIT(VP_CAUSE_LATENCY));
}

/* ---- F3 ---- */

/* Late launches may be a symptom of copies, whose rule F6 comes later in the table. While F3 is
 * judged, the time of these copies counts as taken. */
static void keep_for_copies(fnd_run *run, bool keep)
{
    const uint64_t f6 = FND_RULE(fnd_rule_of(run, fnd_transfers) - run->rules);
    for (uint32_t d = 0; d < run->r->device_count; d++) {
        fnd_cells *c = &run->devices[d];
        int64_t *left = &c->left_ps[VP_CAUSE_TRANSFER];
        if (!fnd_waits_for_host_copies(run, d))
            continue;
        if (keep)
            c->kept_ps = *left;
        *left = keep ? 0 : c->kept_ps;
        c->takers[VP_CAUSE_TRANSFER] ^= f6;
    }
}

/* The function that delays the host's launches; its saving is predicted. */
static fnd_function late_function(const fnd_run *run, uint32_t d)
{
    fnd_function f = fnd_costly_function(run, d);
    int64_t late = idle_ps_of_causes(run, d, FND_HOST_LATE);
    bool is_late = f.f && f.role == FND_ROLE_WORKS && 2 * f.saved_ps > late &&
                   fnd_exceeds(run, f.saved_ps, fnd_window(run, d), FND_WINDOW);
    return is_late ? f : (fnd_function){0};
}

static void offer_late(fnd_run *run, uint32_t d)
{
    int64_t late = idle_ps_of_causes(run, d, FND_HOST_LATE),
            idle = run->r->devices[d].breakdown.idle_ps;
    const fnd_function f = late_function(run, d);
    double share = fnd_share(late, idle);
    if (!fnd_exceeds(run, idle, fnd_window(run, d), FND_WINDOW))
        return;
    fnd_keep_value(run, share);
    if (!fnd_exceeds(run, late, idle, FND_SHARE))
        return;
    if (f.f)
        fnd_offer_predicted(run, d, f.saved_ps, f.run_ps, share);
    else
        fnd_offer(run, d, FND_HOST_LATE, late, share);
}

void fnd_host_bound(fnd_run *run)
{
    const vp_report *r = run->r;
    for (uint32_t d = 0; d < r->device_count; d++)
        offer_late(run, d);
    keep_for_copies(run, true);
    const fnd_claim *c = fnd_settle(run);
    keep_for_copies(run, false);
    if (!c)
        return;
    uint32_t causes = late_causes(run, c->device);
    const fnd_function f = late_function(run, c->device);
    int64_t late = idle_ps_of_causes(run, c->device, FND_HOST_LATE);
    const char *why = f.f ? fnd_say(run, "; the host is in %s: %s call%s, the longest %s",
                                    fnd_path(run, f.f->name), fnd_count(run, f.f->calls),
                                    f.f->calls == 1 ? "" : "s", fnd_time(run, f.f->max_ps))
                          : fnd_main_idle_label(run, c, causes);
    fnd_message(
        run, fnd_say(run,
                     "%s waits for the host to launch the next op for %s of its window (%s of %s), "
                     "%s of its idle time%s.",
                     fnd_worst(run, c), fnd_percent(run, late, fnd_window(run, c->device)),
                     fnd_time(run, late), fnd_time(run, fnd_window(run, c->device)),
                     fnd_percent(run, late, r->devices[c->device].breakdown.idle_ps), why));
    if (f.f)
        fnd_predicted(run, c->device);
    fnd_gap_places(run, own_causes(run, c->device, causes));
}

/* ---- F1 ---- */

void fnd_device_idle(fnd_run *run)
{
    const vp_report *r = run->r;
    for (uint32_t d = 0; d < r->device_count; d++) {
        int64_t idle = r->devices[d].breakdown.idle_ps;
        int64_t normal = fnd_limit_of(run, fnd_window(run, d), FND_SPARED);
        double share = fnd_share(idle, fnd_window(run, d));
        fnd_keep_value(run, share);
        if (idle >= fnd_limit_ps(run) && fnd_exceeds(run, idle, fnd_window(run, d), FND_SHARE))
            fnd_offer(run, d, FND_ALL_IDLE, idle - normal, share)->spare_ps = normal;
    }
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    int64_t idle = r->devices[c->device].breakdown.idle_ps;
    fnd_message(run, fnd_say(run, "%s is idle for %s of its window (%s of %s)%s.",
                             fnd_worst(run, c), fnd_percent(run, idle, fnd_window(run, c->device)),
                             fnd_time(run, idle), fnd_time(run, fnd_window(run, c->device)),
                             fnd_main_idle_label(run, c, FND_ALL_IDLE)));
    fnd_gap_places(run, own_causes(run, c->device, FND_ALL_IDLE));
    if (!run->f->where_count) /* no listed gap has such a cause */
        fnd_gap_places(run, FND_ALL_IDLE);
}
