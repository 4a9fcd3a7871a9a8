/* F14 F21 F8 F9 F3 F1: why a device has nothing to do. */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

static int64_t cause(const fd_run *run, uint32_t device, vp_cause c)
{
    return run->devices[device].whole_ps[FD_IDLE + c];
}

/* Without the copies that F6 tells of. */
static uint32_t late_causes(const fd_run *run, uint32_t device)
{
    return fd_waits_for_host_copies(run, device) ? FD_HOST_LATE & ~FD_BIT(VP_CAUSE_TRANSFER)
                                                 : FD_HOST_LATE;
}

static int64_t idle_of(const fd_run *run, uint32_t device, uint32_t causes)
{
    int64_t sum = 0;
    for (unsigned k = 0; k < VP_CAUSES; k++)
        sum += causes & FD_BIT(k) ? run->devices[device].whole_ps[FD_IDLE + k] : 0;
    return sum;
}

static int64_t host_late(const fd_run *run, uint32_t device)
{
    return idle_of(run, device, late_causes(run, device));
}

/* The causes that no earlier rule claims; all of them where each is claimed. */
static uint32_t own_causes(const fd_run *run, uint32_t device, uint32_t causes)
{
    uint32_t own = 0;
    for (unsigned k = 0; k < VP_CAUSES; k++)
        if ((causes & FD_BIT(k)) && !(run->devices[device].takers[k] & ~run->rule_bit))
            own |= FD_BIT(k);
    return own ? own : causes;
}

/* What the largest part of the device's idle time of these causes is: "; most of it in LABEL …", or
 * what it is if it has no label; nothing where that is not known. Where the causes that no earlier
 * rule claims make up most of what is left to this one, the largest part of theirs. */
static const char *mostly(fd_run *run, const fd_claim *c, uint32_t causes)
{
    uint32_t own = own_causes(run, c->device, causes);
    if (c->rest_ps <= 0 || 2 * idle_of(run, c->device, own) < c->rest_ps)
        own = causes;
    const fd_idle_parts p = fd_idle_labels(run, c->device, own);
    int64_t whole = idle_of(run, c->device, own), largest = p.label ? p.label->total_ps : 0;
    largest = p.silent_ps > largest ? p.silent_ps : largest;
    largest = p.latency_ps > largest ? p.latency_ps : largest;
    if (!largest)
        return "";
    const char *much = 2 * largest > whole ? "most" : "the largest part";
    much = own == causes
               ? fd_say(run, "%s of it", much)
               : fd_say(run, "of %s that no finding above claims, %s", fd_time(run, whole), much);
    if (p.label && p.label->total_ps == largest)
        return fd_say(run, "; %s in %s", much, fd_label(run, p.label));
    return fd_say(run, "; %s (%s) %s", much, fd_time(run, largest),
                  p.silent_ps == largest ? "while nothing was recorded on the host"
                                         : "is latency: work was launched and had not begun");
}

/* ---- F14 ---- */

static void place_infeed(fd_run *run)
{
    for (size_t i = 0; i < run->r->transfer_count; i++) {
        const vp_transfer *t = &run->r->transfers[i];
        if (t->direction == VP_INFEED && t->device < run->r->device_count && t->count > 0)
            fd_place(run, t->device, "infeed", t->largest_start_ps, t->largest_dur_ps);
    }
}

/* Infeed ops say for themselves that they wait; idle time needs the host's word for it. */
void fd_input_bound(fd_run *run)
{
    const vp_report *r = run->r;
    const uint32_t cells = FD_BIT(VP_CAUSE_INPUT) | FD_BIT(FD_COPY + VP_INFEED);
    bool infeed = false;
    for (uint32_t d = 0; d < r->device_count; d++)
        infeed = infeed || run->devices[d].whole_ps[FD_COPY + VP_INFEED] > 0;
    if (!infeed && !fd_has_causes(r)) {
        fd_lacks(run, FD_NEED_CAUSES);
        return;
    }
    for (uint32_t d = 0; d < r->device_count; d++) {
        int64_t ps = cause(run, d, VP_CAUSE_INPUT) + run->devices[d].whole_ps[FD_COPY + VP_INFEED];
        fd_offer_share(run, d, cells, ps, fd_window(run, d), fd_exceeds);
    }
    const fd_claim *c = fd_settle(run);
    if (!c)
        return;
    fd_message(run,
               fd_say(run, "%s waits for input data in %s of its window (%s of %s)%s.",
                      fd_worst(run, c), fd_percent(run, c->gross_ps, fd_window(run, c->device)),
                      fd_time(run, c->gross_ps), fd_time(run, fd_window(run, c->device)),
                      mostly(run, c, FD_BIT(VP_CAUSE_INPUT))));
    fd_gap_places(run, FD_BIT(VP_CAUSE_INPUT));
    place_infeed(run);
}

/* ---- F21 ---- */

/* As hygiene.c knows them: by what is called or from where; the report keeps name and scope. */
static bool is_callback(const char *text)
{
    static const char *const words[] = {"callback", "debug_print", "outside_call"};
    vp_str s = vp_str_of(text ? text : "");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (vp_str_find(s, vp_str_of(words[i])) < s.n)
            return true;
    return false;
}

/* The slowest call of the callback op that takes longest. */
static void place_callback_op(fd_run *run, uint32_t device)
{
    const vp_op *worst = NULL;
    for (size_t i = 0; i < run->r->op_count; i++) {
        const vp_op *op = &run->r->ops[i];
        if (op->device == device && (!worst || op->self_ps > worst->self_ps) &&
            (is_callback(op->scope) || is_callback(op->name)))
            worst = op;
    }
    if (worst)
        fd_place(run, device, worst->name, worst->slowest_start_ps, worst->slowest_dur_ps);
}

void fd_debug_callback(fd_run *run)
{
    const vp_report *r = run->r;
    for (uint32_t d = 0; d < r->device_count; d++) {
        int64_t op = r->devices[d].hygiene.callback_ps;
        int64_t ps = cause(run, d, VP_CAUSE_CALLBACK) + (op > 0 ? op : 0);
        fd_offer_share(run, d, FD_BIT(VP_CAUSE_CALLBACK) | (op > 0 ? FD_BIT(FD_COMPUTE) : 0), ps,
                       fd_window(run, d), fd_reaches);
    }
    const fd_claim *c = fd_settle(run);
    if (!c)
        return;
    fd_message(run,
               fd_say(run,
                      "%s spends %s of its window (%s of %s) on calls back into the host "
                      "program%s.",
                      fd_worst(run, c), fd_percent(run, c->gross_ps, fd_window(run, c->device)),
                      fd_time(run, c->gross_ps), fd_time(run, fd_window(run, c->device)),
                      mostly(run, c, FD_BIT(VP_CAUSE_CALLBACK))));
    fd_gap_places(run, FD_BIT(VP_CAUSE_CALLBACK));
    place_callback_op(run, c->device);
}

/* ---- F8 ---- */

static const char free_advice[] =
    "Freeing device memory waits for the device: keep torch.cuda.empty_cache() out of the loop, "
    "leave the allocator room (smaller batches, PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True) "
    "so that it need not give blocks back and retry, and warm up before recording.";

static bool frees_memory(const char *name)
{
    static const char *const calls[] = {"cudaFree", "hipFree", "cuMemFree"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (vp_str_starts(vp_str_of(name), vp_str_of(calls[i])))
            return true;
    return false;
}

void fd_sync_call(fd_run *run)
{
    const vp_report *r = run->r;
    for (uint32_t d = 0; d < r->device_count; d++) {
        const fd_host *host = fd_host_of(run, r->devices[d].host);
        int64_t waits = host ? host->wait_ps : 0;
        int64_t idle = cause(run, d, VP_CAUSE_SYNC) + cause(run, d, VP_CAUSE_UNKNOWN);
        fd_offer_share(run, d, FD_BIT(VP_CAUSE_SYNC) | FD_BIT(VP_CAUSE_UNKNOWN),
                       waits < idle ? waits : idle, fd_window(run, d), fd_reaches);
    }
    const fd_claim *c = fd_settle(run);
    if (!c)
        return;
    const vp_host_op *op = fd_host_of(run, r->devices[c->device].host)->wait_op;
    /* Where the device has less idle time that such calls can cause, the part is not known. */
    bool known = fd_blocked(op) <= c->gross_ps;
    fd_message(run,
               fd_say(run,
                      "%s idles %s of its window (%s of %s) while the host stands in a blocking "
                      "call: %s (%s call%s%s%s).",
                      fd_worst(run, c), fd_percent(run, c->gross_ps, fd_window(run, c->device)),
                      fd_time(run, c->gross_ps), fd_time(run, fd_window(run, c->device)),
                      fd_short(run, op->name), fd_count(run, op->calls), op->calls == 1 ? "" : "s",
                      known ? ", " : "", known ? fd_time(run, fd_blocked(op)) : ""));
    fd_gap_places(run, FD_BIT(VP_CAUSE_SYNC));
    if (frees_memory(op->name) && run->words != FD_WORDS_NATIVE)
        run->f->suggestion = free_advice;
    if (!run->f->where_count)
        fd_place(run, c->device, op->thread, op->max_start_ps, op->max_ps);
}

/* ---- F9 ---- */

static int64_t part(const fd_run *run, uint32_t device, vp_cause c, int64_t ps)
{
    int64_t whole = cause(run, device, c);
    return ps < 0 ? 0 : ps < whole ? ps : whole;
}

bool fd_is_launched(const fd_run *run, uint32_t device)
{
    const vp_device *d = &run->r->devices[device];
    return d->launch.calls > 0 || (d->kind == VP_DEVICE_GPU && cause(run, device, VP_CAUSE_CALL));
}

/* Nothing but the next kernel was queued: the time of its launch, and until it begins. Without
 * correlations a gap under an execution is one whose kernels were launched in it. */
static void offer_launches(fd_run *run, uint32_t d, double value)
{
    const vp_launch *l = &run->r->devices[d].launch;
    int64_t late = host_late(run, d);
    int64_t call = part(run, d, VP_CAUSE_CALL, l->calls > 0 ? l->starved_call_ps : INT64_MAX);
    int64_t latency = part(run, d, VP_CAUSE_LATENCY, l->starved_latency_ps);
    int64_t ps = late + call + latency;
    if (l->kernel_p50_ps >= fd_limit_ps(run) ||
        !fd_exceeds(run, l->short_kernels, l->kernels, FD_PART) ||
        !fd_exceeds(run, ps, fd_window(run, d), FD_WINDOW))
        return;
    fd_claim *c = fd_offer(run, d, late_causes(run, d), ps, value);
    c->part_ps[VP_CAUSE_CALL] = call;
    c->part_ps[VP_CAUSE_LATENCY] = latency;
}

void fd_launch_bound(fd_run *run)
{
    const vp_report *r = run->r;
    for (uint32_t d = 0; d < r->device_count; d++) {
        const vp_launch *l = &r->devices[d].launch;
        if (!fd_is_launched(run, d) || l->kernels < run->rule->limits[FD_NUMBER] ||
            l->kernel_p50_ps < 0)
            continue;
        double value = (double)l->kernel_p50_ps / 1e6;
        run->f->value = run->claim_count ? run->f->value : value;
        offer_launches(run, d, value);
    }
    const fd_claim *c = fd_settle(run);
    if (!c)
        return;
    const vp_launch *l = &r->devices[c->device].launch;
    const int64_t *by = c->part_ps;
    int64_t call = by[VP_CAUSE_CALL], latency = by[VP_CAUSE_LATENCY];
    fd_message(
        run,
        fd_say(run,
               "%s runs %s kernels of %s in the median, %s of them below 10 µs, and waits %s of "
               "its window (%s of %s) for the next one to be launched: %s until the host calls, %s "
               "in the call, %s until the kernel begins.",
               fd_worst(run, c), fd_count(run, l->kernels), fd_time(run, l->kernel_p50_ps),
               fd_percent(run, l->short_kernels, l->kernels),
               fd_percent(run, c->gross_ps, fd_window(run, c->device)), fd_time(run, c->gross_ps),
               fd_time(run, fd_window(run, c->device)), fd_time(run, c->gross_ps - call - latency),
               fd_time(run, call), fd_time(run, latency)));
    fd_gap_places(run, FD_HOST_LATE | FD_BIT(VP_CAUSE_CALL) | FD_BIT(VP_CAUSE_LATENCY));
}

/* ---- F3 ---- */

/* Copies are a cause and the late launch their symptom, although F6 stands below: while F3 is
 * judged they are taken. */
static void keep_for_copies(fd_run *run, bool keep)
{
    const uint32_t f6 = FD_BIT(fd_rule_of(run, fd_transfers) - run->rules);
    for (uint32_t d = 0; d < run->r->device_count; d++) {
        fd_cells *c = &run->devices[d];
        int64_t *left = &c->left_ps[VP_CAUSE_TRANSFER];
        if (!fd_waits_for_host_copies(run, d))
            continue;
        if (keep)
            c->kept_ps = *left;
        *left = keep ? 0 : c->kept_ps;
        c->takers[VP_CAUSE_TRANSFER] ^= f6;
    }
}

void fd_host_bound(fd_run *run)
{
    const vp_report *r = run->r;
    for (uint32_t d = 0; d < r->device_count; d++) {
        int64_t late = idle_of(run, d, FD_HOST_LATE), idle = r->devices[d].breakdown.idle_ps;
        double share = fd_share(late, idle);
        if (!fd_exceeds(run, idle, fd_window(run, d), FD_WINDOW))
            continue;
        fd_keep_value(run, share);
        if (fd_exceeds(run, late, idle, FD_SHARE))
            fd_offer(run, d, FD_HOST_LATE, late, share);
    }
    keep_for_copies(run, true);
    const fd_claim *c = fd_settle(run);
    keep_for_copies(run, false);
    if (!c)
        return;
    uint32_t causes = late_causes(run, c->device);
    fd_message(run,
               fd_say(run,
                      "%s waits for the host to launch its next op in %s of its window (%s of "
                      "%s), %s of all its idle time%s.",
                      fd_worst(run, c), fd_percent(run, c->gross_ps, fd_window(run, c->device)),
                      fd_time(run, c->gross_ps), fd_time(run, fd_window(run, c->device)),
                      fd_percent(run, c->gross_ps, r->devices[c->device].breakdown.idle_ps),
                      mostly(run, c, causes)));
    fd_gap_places(run, own_causes(run, c->device, causes));
}

/* ---- F1 ---- */

void fd_device_idle(fd_run *run)
{
    const vp_report *r = run->r;
    for (uint32_t d = 0; d < r->device_count; d++) {
        int64_t idle = r->devices[d].breakdown.idle_ps;
        int64_t normal = fd_limit_of(run, fd_window(run, d), FD_SPARED);
        double share = fd_share(idle, fd_window(run, d));
        fd_keep_value(run, share);
        if (idle >= fd_limit_ps(run) && fd_exceeds(run, idle, fd_window(run, d), FD_SHARE))
            fd_offer(run, d, FD_ALL_IDLE, idle - normal, share)->spare_ps = normal;
    }
    const fd_claim *c = fd_settle(run);
    if (!c)
        return;
    int64_t idle = r->devices[c->device].breakdown.idle_ps;
    fd_message(run, fd_say(run, "%s has nothing to do in %s of its window (%s of %s)%s.",
                           fd_worst(run, c), fd_percent(run, idle, fd_window(run, c->device)),
                           fd_time(run, idle), fd_time(run, fd_window(run, c->device)),
                           mostly(run, c, FD_ALL_IDLE)));
    fd_gap_places(run, own_causes(run, c->device, FD_ALL_IDLE));
}
