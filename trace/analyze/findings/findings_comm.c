/* F16 F15 F56 F4 F5: devices that wait for each other. */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

#include "trace/base/map.h"

/* ---- F16 ---- */

/* Whether one of `n` participants was last in at least FND_SHARE of the matched calls m, and more
 * often than by chance: of two equal ones, each is last in half of the calls. By chance the number
 * is binomial with mean m/n and variance m (n − 1)/n²; `last` must be FND_DEVIATIONS standard
 * deviations above the mean, that is (n last − m)² ≥ z² m (n − 1), in integers. */
static bool is_last_too_often(const fnd_run *run, int64_t last, int64_t matched, int64_t n)
{
    int64_t z = run->rule->limits[FND_DEVIATIONS];
    __int128 above = (__int128)n * last - matched;
    return fnd_reaches(run, last, matched, FND_SHARE) && above > 0 &&
           above * above >= (__int128)z * z * matched * (n - 1);
}

static bool is_device_straggling(const fnd_run *run)
{
    const vp_balance *b = &run->r->balance;
    return b->straggler < run->r->device_count &&
           is_last_too_often(run, b->straggler_last, b->matched, (int64_t)b->devices);
}

/* True if one device, or one host, is last too often, and the others wait for it for FND_WINDOW of
 * the largest window. */
bool fnd_straggles(const fnd_run *run)
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
    return b->devices >= 2 && b->matched >= run->rule->limits[FND_NUMBER] &&
           (b->aligned || r->host_count < 2) && (device || host) &&
           fnd_reaches(run, b->wait_ps, window, FND_WINDOW);
}

static int64_t collective_wait_of(const fnd_run *run, uint32_t device)
{
    int64_t ps = 0;
    uint32_t i;
    for (FND_ROWS(i, &run->collectives, device))
        if (run->r->collectives[i].wait_ps > 0)
            ps += run->r->collectives[i].wait_ps;
    return ps;
}

int64_t fnd_straggler_wait(const fnd_run *run, uint32_t device)
{
    return run->straggling ? collective_wait_of(run, device) : 0;
}

static const char *straggler_name(fnd_run *run)
{
    const vp_balance *b = &run->r->balance;
    return is_device_straggling(run) ? fnd_device(run, b->straggler)
                                     : fnd_say(run, "host %s", b->straggler_host);
}

/* The longest stored call of the device's collectives, where the wait is most visible. */
static void place_longest(fnd_run *run, uint32_t device)
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
        fnd_place(run, device, worst->name, worst->sample_start_ps[at], worst->sample_dur_ps[at]);
}

/* The op with the largest difference *ps of its time on `slow` and on `other`; NULL: none. */
static const vp_op *slower_op(fnd_run *run, uint32_t slow, uint32_t other, int64_t *ps)
{
    const vp_op *best = NULL;
    vp_map by_name;
    uint32_t i;
    int rc = 0;
    *ps = 0;
    vp_map_init(&by_name);
    for (FND_ROWS(i, &run->ops, other)) {
        vp_str name = vp_str_of(run->r->ops[i].name);
        rc = rc < 0 ? rc : vp_map_set(&by_name, vp_hash(name.p, name.n, 0), i);
    }
    for (FND_ROWS(i, &run->ops, slow)) {
        const vp_op *op = &run->r->ops[i];
        vp_str name = vp_str_of(op->name);
        uint32_t twin = vp_map_get(&by_name, vp_hash(name.p, name.n, 0));
        int64_t more = op->self_ps - (twin == VP_MAP_NONE ? 0 : run->r->ops[twin].self_ps);
        if (op->op_class != VP_COMMUNICATION && more > *ps) {
            *ps = more;
            best = op;
        }
    }
    vp_map_free(&by_name);
    run->out_of_memory = run->out_of_memory || rc < 0;
    return best;
}

/* The cause of the straggler: an op that takes longer there, or host activity while it is idle. ""
 * if neither explains a quarter of the wait. */
static const char *say_why_late(fnd_run *run, uint32_t waits, int64_t wait_ps)
{
    uint32_t slow = run->r->balance.straggler;
    int64_t more;
    if (slow >= run->r->device_count)
        return "";
    const vp_op *op = slower_op(run, slow, waits, &more);
    const vp_idle_label *l =
        fnd_idle_labels(run, slow, FND_ALL_IDLE & ~FND_BIT(VP_CAUSE_PEER)).label;
    if (op && more >= wait_ps / 4)
        return fnd_say(run, " %s takes %s more on %s%s%s.", fnd_short(run, op->name),
                       fnd_time(run, more), fnd_device(run, slow), op->source ? ", from " : "",
                       op->source ? fnd_path(run, op->source) : "");
    return l && l->total_ps >= wait_ps / 4 ? fnd_say(run, " Meanwhile %s is idle, most in %s.",
                                                     fnd_device(run, slow), fnd_label(run, l))
                                           : "";
}

/* Whether the straggler is the device that computes longest: unequal work, of which F15 also
 * reports. */
static bool is_straggler_busiest(const fnd_run *run)
{
    const vp_balance *b = &run->r->balance;
    return b->busiest == b->straggler && b->mean_ps > 0 &&
           fnd_above(b->max_ps - b->mean_ps, b->mean_ps,
                     fnd_rule_of(run, fnd_imbalance)->limits[FND_SHARE]);
}

/* Max − mean: with equal work, all devices would arrive at the mean of the times at which they
 * arrive now. A device that has no thread to run on does not arrive before the straggler is done,
 * so its wait is idle time: if the straggler has more work, max − mean of the work counts, too. */
static int64_t saved_by_balance(const fnd_run *run)
{
    const vp_balance *b = &run->r->balance;
    __int128 sum = 0;
    for (uint32_t d = 0; d < run->r->device_count; d++)
        sum += d == b->straggler ? 0 : collective_wait_of(run, d);
    int64_t waits = (int64_t)(sum / (int64_t)b->devices);
    int64_t work = is_straggler_busiest(run) ? b->max_ps - b->mean_ps : 0;
    return work > waits ? work : waits;
}

/* The waits of a device that balance would end. */
static int64_t balanced_ps(const fnd_run *run, uint32_t device)
{
    const vp_balance *b = &run->r->balance;
    int64_t wait = collective_wait_of(run, device),
            less = is_straggler_busiest(run)
                       ? b->max_ps - run->r->devices[device].breakdown.compute_ps
                       : 0;
    return less > wait ? less : wait;
}

/* A wait that is longer than the time in collectives is idle time. */
static void add_idle_waits(const fnd_run *run, fnd_claim *c, int64_t wait_ps)
{
    static const unsigned causes[] = {VP_CAUSE_LATENCY, VP_CAUSE_PEER, VP_CAUSE_SYNC,
                                      VP_CAUSE_UNKNOWN, VP_CAUSE_CALL, VP_CAUSE_HOST};
    int64_t left = wait_ps - c->part_ps[FND_COMM];
    for (size_t i = 0; i < sizeof causes / sizeof *causes && left > 0; i++) {
        int64_t whole = run->devices[c->device].whole_ps[FND_IDLE + causes[i]];
        c->part_ps[FND_IDLE + causes[i]] = left < whole ? left : whole;
        left -= whole;
    }
}

void fnd_straggler(fnd_run *run)
{
    const vp_report *r = run->r;
    const vp_balance *b = &r->balance;
    int64_t last = b->straggler_last > b->straggler_host_last || !b->straggler_host
                       ? b->straggler_last
                       : b->straggler_host_last;
    run->f->value = fnd_share(last, b->matched);
    if (!run->straggling)
        return;
    int64_t saved = saved_by_balance(run);
    for (uint32_t d = 0; d < r->device_count; d++) {
        int64_t ps = balanced_ps(run, d);
        if (d != b->straggler && collective_wait_of(run, d) > 0)
            add_idle_waits(
                run, fnd_offer(run, d, FND_BIT(FND_COMM), ps < saved ? ps : saved, run->f->value),
                ps);
    }
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    for (uint32_t d = 0; d < r->device_count && run->f->status == VP_FIRED; d++)
        if (d != b->straggler && balanced_ps(run, d) > saved)
            fnd_take(run, d, FND_BIT(FND_COMM), balanced_ps(run, d) - saved);
    int64_t wait = collective_wait_of(run, c->device);
    fnd_message(run,
                fnd_say(run,
                        "%s arrives last in %s of %s matched collective calls; %s waits %s for it, "
                        "%s of its window. With equal work, that would be %s less.%s",
                        straggler_name(run), fnd_count(run, last), fnd_count(run, b->matched),
                        fnd_worst(run, c), fnd_time(run, wait),
                        fnd_percent(run, wait, fnd_window(run, c->device)),
                        fnd_time(run, c->gross_ps), say_why_late(run, c->device, wait)));
    place_longest(run, c->device);
}

/* ---- F15 ---- */

void fnd_imbalance(fnd_run *run)
{
    const vp_report *r = run->r;
    const vp_balance *b = &r->balance;
    if (b->busiest >= r->device_count || b->idlest >= r->device_count || b->mean_ps <= 0)
        return;
    int64_t lost = b->max_ps - b->mean_ps;
    run->f->value = fnd_share(lost, b->mean_ps);
    if (!fnd_exceeds(run, lost, b->mean_ps, FND_SHARE))
        return;
    /* F16 has claimed the idle time of the same cause. */
    bool same = run->straggling && is_straggler_busiest(run);
    fnd_offer(run, b->idlest, FND_BIT(FND_COMM) | (same ? 0 : FND_ALL_IDLE), lost, run->f->value);
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    for (uint32_t d = 0; d < r->device_count && run->f->status == VP_FIRED; d++)
        if (d != b->busiest && d != b->idlest && r->devices[d].breakdown.compute_ps > 0)
            fnd_take(run, d, FND_BIT(FND_COMM) | FND_ALL_IDLE,
                     b->max_ps - r->devices[d].breakdown.compute_ps);
    fnd_message(run, fnd_say(run,
                             "%s computes for %s, %s only for %s (mean of %zu devices: %s). With "
                             "equal work, the busiest would take %s less.",
                             fnd_device(run, b->busiest), fnd_time(run, b->max_ps),
                             fnd_device(run, b->idlest), fnd_time(run, b->min_ps), b->devices,
                             fnd_time(run, b->mean_ps), fnd_time(run, lost)));
    fnd_place_in_step(run, b->busiest, NULL);
    fnd_place_in_step(run, b->idlest, NULL);
}

/* ---- F56 ---- */

void fnd_peer_waits(fnd_run *run)
{
    const vp_report *r = run->r;
    for (uint32_t d = 0; d < r->device_count; d++) {
        int64_t ps = r->devices[d].exposed_wait_ps, window = fnd_window(run, d);
        double share = fnd_share(ps, window);
        if (ps <= 0)
            continue;
        fnd_keep_value(run, share);
        if (fnd_exceeds(run, ps, window, FND_SHARE))
            fnd_offer(run, d, FND_BIT(FND_COMM), ps, share);
    }
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    fnd_message(
        run, fnd_say(run,
                     "%s waits in collectives for %s of its window (%s of %s) until the "
                     "last device arrives.",
                     fnd_worst(run, c), fnd_percent(run, c->gross_ps, fnd_window(run, c->device)),
                     fnd_time(run, c->gross_ps), fnd_time(run, fnd_window(run, c->device))));
    place_longest(run, c->device);
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

static const char *say_most_exposed(fnd_run *run, uint32_t device)
{
    const vp_collective *c = most_exposed(run->r, device);
    if (!c)
        return "";
    return fnd_say(run, "; most of it in %s (%s, %s call%s)", fnd_short(run, c->name),
                   fnd_time(run, c->exposed_ps), fnd_count(run, c->count),
                   c->count == 1 ? "" : "s");
}

void fnd_exposed_comm(fnd_run *run)
{
    const vp_report *r = run->r;
    for (uint32_t d = 0; d < r->device_count; d++) {
        int64_t ps = r->devices[d].breakdown.exposed_comm_ps;
        fnd_offer_share(run, d, FND_BIT(FND_COMM), ps, fnd_window(run, d), fnd_exceeds);
    }
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    fnd_message(
        run, fnd_say(run, "%s spends %s of its window (%s of %s) in exposed communication%s.",
                     fnd_worst(run, c), fnd_percent(run, c->gross_ps, fnd_window(run, c->device)),
                     fnd_time(run, c->gross_ps), fnd_time(run, fnd_window(run, c->device)),
                     say_most_exposed(run, c->device)));
    place_longest(run, c->device);
}

/* ---- F5 ---- */

void fnd_poor_overlap(fnd_run *run)
{
    const vp_report *r = run->r;
    bool any = false;
    for (uint32_t d = 0; d < r->device_count; d++) {
        const vp_breakdown *b = &r->devices[d].breakdown;
        double hidden = fnd_share(b->overlap_comm_ps, b->comm_ps);
        if (b->comm_ps < fnd_limit_ps(run) ||
            !fnd_reaches(run, b->comm_ps, b->window_ps, FND_WINDOW))
            continue;
        run->f->value = any && run->f->value < hidden ? run->f->value : hidden;
        any = true;
        if (fnd_reaches(run, b->overlap_comm_ps, b->comm_ps, FND_SHARE))
            continue;
        fnd_offer(run, d, FND_BIT(FND_COMM),
                  fnd_limit_of(run, b->comm_ps, FND_SPARED) - b->overlap_comm_ps, hidden);
    }
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    const vp_breakdown *b = &r->devices[c->device].breakdown;
    fnd_message(
        run, fnd_say(run, "Of %s of communication on %s, %s with compute.",
                     fnd_time(run, b->comm_ps), fnd_worst(run, c),
                     fnd_at_least(b->overlap_comm_ps, b->comm_ps, 1)
                         ? fnd_say(run, "only %s (%s) overlaps", fnd_time(run, b->overlap_comm_ps),
                                   fnd_percent(run, b->overlap_comm_ps, b->comm_ps))
                         : "none overlaps"));
    place_longest(run, c->device);
}
