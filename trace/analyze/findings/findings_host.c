/* F25 F26 F27 F29: the threads of a program without a device. Its processes take the role of
 * devices in the report, so that claims are the same; F28 is in findings_steps.c. */
#include <stdlib.h>
#include <string.h>

#include "trace/analyze/findings/findings_run.h"
#include "trace/analyze/host/host_kinds.h"
#include "trace/analyze/host/threads.h"

static bool is_valid_device(const fnd_run *run, uint32_t device)
{
    return device < run->r->device_count;
}

/* ---- F25 ---- */

/* By process, the thread that loses the most time by waiting; NULL: out of memory. */
static const vp_thread **longest_waits(fnd_run *run)
{
    const vp_report *r = run->r;
    const vp_thread **worst = vp_arena_zalloc(&run->scratch, (r->device_count + 1) * sizeof *worst);
    for (size_t i = 0; worst && i < r->thread_count; i++) {
        const vp_thread *x = &r->threads[i];
        if (is_valid_device(run, x->device) && x->wait &&
            (!worst[x->device] || x->lost_ps > worst[x->device]->lost_ps))
            worst[x->device] = x;
    }
    run->out_of_memory = run->out_of_memory || !worst;
    return worst;
}

/* The part of that waiting that F28 claims: zones that wait, or what they wait for. */
static int64_t slow_step_wait(const fnd_run *run, uint32_t device)
{
    return device == run->step_wait_device ? run->step_wait_ps : 0;
}

void fnd_thread_wait(fnd_run *run)
{
    const vp_thread **worst = longest_waits(run);
    for (uint32_t d = 0; worst && d < run->r->device_count; d++) {
        if (!worst[d])
            continue;
        double share = fnd_share(worst[d]->lost_ps, fnd_window(run, d));
        fnd_keep_value(run, share);
        if (!fnd_reaches(run, worst[d]->lost_ps, fnd_window(run, d), FND_SHARE))
            continue;
        fnd_claim *own = fnd_offer(run, d, 0, worst[d]->lost_ps, share);
        if (!fnd_is_read_in_loop(run, d, worst[d]->wait))
            own->part_ps[FND_COMPUTE] =
                worst[d]->lost_ps - (worst[d]->steps ? slow_step_wait(run, d) : 0);
        fnd_add_activity_waits(run, own, worst[d]);
    }
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    const vp_thread *x = worst[c->device];
    fnd_message(run, fnd_say(run,
                             "Thread %s of %s waits %s, %s of the window%s, mostly in %s%s (%s "
                             "call%s, the longest %s).",
                             fnd_short(run, x->name), fnd_worst(run, c), fnd_time(run, x->lost_ps),
                             fnd_percent(run, x->lost_ps, fnd_window(run, c->device)),
                             x->steps ? ", within its steps" : "", fnd_short(run, x->wait),
                             fnd_called_by(run, x->wait_caller, ""), fnd_count(run, x->wait_calls),
                             x->wait_calls == 1 ? "" : "s", fnd_time(run, x->wait_dur_ps)));
    fnd_place(run, c->device, x->name, x->wait_start_ps, x->wait_dur_ps);
}

/* ---- F26 ---- */

/* Threads of one process that do the same work: most of it is in the same zone. */
typedef struct team {
    const vp_thread *busiest, *idlest;
    int64_t count, sum_ps;
} team;

static int by_team(const void *a, const void *b)
{
    const vp_thread *x = *(const vp_thread *const *)a, *y = *(const vp_thread *const *)b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    int order = strcmp(x->zone, y->zone);
    return order ? order : (x > y) - (x < y);
}

static bool same_team(const vp_thread *x, const vp_thread *y)
{
    return x->device == y->device && !strcmp(x->zone, y->zone);
}

/* Threads with half of their work in that zone. The purpose of others is unknown. */
static size_t list_workers(const vp_thread **out, const fnd_run *run)
{
    size_t n = 0;
    for (size_t i = 0; i < run->r->thread_count; i++) {
        const vp_thread *x = &run->r->threads[i];
        if (is_valid_device(run, x->device) && x->zone &&
            fnd_reaches(run, x->zone_ps, x->work_ps, FND_PART))
            out[n++] = x;
    }
    if (n)
        qsort(out, n, sizeof *out, by_team);
    return n;
}

static team team_of(const vp_thread *const *v, size_t n)
{
    team t = {v[0], v[0], (int64_t)n, 0};
    for (size_t i = 0; i < n; i++) {
        t.busiest = v[i]->work_ps > t.busiest->work_ps ? v[i] : t.busiest;
        t.idlest = v[i]->work_ps < t.idlest->work_ps ? v[i] : t.idlest;
        t.sum_ps += v[i]->work_ps;
    }
    return t;
}

static int64_t uneven_ps(const team *t)
{
    return t->count ? t->busiest->work_ps - t->sum_ps / t->count : 0;
}

/* By process, the team with the largest loss. A team counts only if it does half of the process's
 * work and its busiest thread works for half of the window: else the program does not wait for it.
 */
static team *find_teams(fnd_run *run)
{
    const vp_report *r = run->r;
    team *worst = vp_arena_zalloc(&run->scratch, (r->device_count + 1) * sizeof *worst);
    const vp_thread **v = vp_arena_alloc(&run->scratch, (r->thread_count + 1) * sizeof *v);
    if (!worst || !v) {
        run->out_of_memory = true;
        return NULL;
    }
    int64_t *work = vp_arena_zalloc(&run->scratch, (r->device_count + 1) * sizeof *work);
    size_t n = list_workers(v, run);
    run->out_of_memory = run->out_of_memory || !work;
    for (size_t i = 0; work && i < r->thread_count; i++)
        if (is_valid_device(run, r->threads[i].device))
            work[r->threads[i].device] += r->threads[i].work_ps;
    for (size_t i = 0, end; work && i < n; i = end) {
        for (end = i + 1; end < n && same_team(v[i], v[end]);)
            end++;
        team t = team_of(v + i, end - i);
        uint32_t d = v[i]->device;
        if (fnd_reaches(run, t.busiest->work_ps, fnd_window(run, d), FND_PART) &&
            fnd_reaches(run, t.sum_ps, work[d], FND_PART) && uneven_ps(&t) > uneven_ps(&worst[d]))
            worst[d] = t;
    }
    return worst;
}

void fnd_thread_imbalance(fnd_run *run)
{
    const team *worst = find_teams(run);
    for (uint32_t d = 0; worst && d < run->r->device_count; d++) {
        const team *t = &worst[d];
        int64_t mean = t->count ? t->sum_ps / t->count : 0;
        fnd_offer_share(run, d, FND_BIT(FND_COMPUTE), uneven_ps(t), mean, fnd_exceeds);
    }
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    const team *t = &worst[c->device];
    fnd_message(
        run,
        fnd_say(run,
                "Of %s threads in %s%s, %s works %s and %s only %s (mean %s). With equal work, "
                "the busiest would take %s less.",
                fnd_count(run, t->count), fnd_short(run, t->busiest->zone),
                fnd_called_by(run, t->busiest->zone_caller, ""), fnd_short(run, t->busiest->name),
                fnd_time(run, t->busiest->work_ps), fnd_short(run, t->idlest->name),
                fnd_time(run, t->idlest->work_ps), fnd_time(run, t->sum_ps / t->count),
                fnd_time(run, uneven_ps(t))));
    fnd_place(run, c->device, t->busiest->name, t->busiest->start_ps,
              t->busiest->end_ps - t->busiest->start_ps);
    fnd_place(run, c->device, t->idlest->name, t->idlest->start_ps,
              t->idlest->end_ps - t->idlest->start_ps);
}

/* ---- F27 ---- */

/* Compilation, input, garbage collection and writes have rules of their own. */
static bool is_activity(vp_str name, vp_str category)
{
    return host_kind_flags_of(name, category) & (HK_COMPILE | HK_INPUT | HK_GC | HK_WRITE);
}

/* Work of a thread: async work has no thread. */
static bool is_work(const fnd_run *run, const vp_op *op)
{
    vp_str name = vp_str_of(op->name),
           category = op->category ? vp_str_of(op->category) : VP_STR_NONE;
    return is_valid_device(run, op->device) && op->threads && !wait_kind_of(name, category) &&
           !is_activity(name, category);
}

/* The work of all threads of all processes, and how many zones it is in. */
static int64_t all_work(const fnd_run *run, size_t *zones)
{
    int64_t sum = 0;
    *zones = 0;
    for (size_t i = 0; i < run->r->op_count; i++) {
        const vp_op *op = &run->r->ops[i];
        if (!is_work(run, op) || op->self_ps <= 0)
            continue;
        sum += op->self_ps;
        ++*zones;
    }
    return sum;
}

static const char *threads_phrase(fnd_run *run, const vp_op *op)
{
    return op->threads > 1 ? fnd_say(run, " on %s threads", fnd_count(run, op->threads)) : "";
}

void fnd_hot_zone(fnd_run *run)
{
    const vp_report *r = run->r;
    const vp_op *best = NULL;
    size_t zones;
    int64_t all = all_work(run, &zones);
    for (size_t i = 0; i < r->op_count; i++)
        if (is_work(run, &r->ops[i]) && (!best || r->ops[i].self_ps > best->self_ps))
            best = &r->ops[i];
    if (!best)
        return;
    run->f->value = fnd_share(best->self_ps, all);
    if (zones < run->rule->limits[FND_NUMBER] || best->self_ps < fnd_limit_ps(run) ||
        !fnd_reaches(run, best->self_ps, all, FND_SHARE))
        return;
    run->f->status = VP_FIRED;
    run->f->severity =
        fnd_reaches(run, best->self_ps, all, FND_SEVERE) ? VP_LEVEL_MEDIUM : VP_LEVEL_LOW;
    fnd_message(
        run, fnd_say(run, "%s%s takes %s of the work of all threads (%s of %s) in %s call%s%s%s%s.",
                     fnd_short(run, best->name), fnd_called_by(run, best->caller, ","),
                     fnd_percent(run, best->self_ps, all), fnd_time(run, best->self_ps),
                     fnd_time(run, all), fnd_count(run, best->calls), best->calls == 1 ? "" : "s",
                     threads_phrase(run, best), best->source ? ", from " : "",
                     best->source ? fnd_path(run, best->source) : ""));
    fnd_place(run, best->device, NULL, best->slowest_start_ps, best->slowest_dur_ps);
}

/* ---- F29 ---- */

/* True if a zone's own calls are uneven. Zones that do most of their work in other zones are
 * excluded, because their variation has other causes, and so are recursive calls, which vary by
 * depth. */
static bool is_uneven_zone(const fnd_run *run, const vp_op *op, int64_t all)
{
    return is_work(run, op) && op->inner_ps <= 0 && op->self_ps >= fnd_limit_ps(run) &&
           op->self_ps >= fnd_limit_of(run, op->total_ps, FND_PART) &&
           fnd_reaches(run, op->self_ps, all, FND_SHARE) &&
           fnd_varies(run, op->stddev_ps, op->calls, op->total_ps);
}

/* The saving if all calls took the median: (mean − p50) · calls, for one thread. */
static int64_t zone_excess(const vp_op *op)
{
    __int128 ps = (__int128)op->total_ps - (__int128)op->p50_ps * op->calls;
    ps = ps < op->self_ps ? ps : op->self_ps;
    return ps > 0 ? (int64_t)ps / (op->threads > 1 ? op->threads : 1) : 0;
}

static const vp_op *most_uneven_zone(const fnd_run *run, uint32_t device, int64_t all)
{
    const vp_op *worst = NULL;
    uint32_t i;
    for (FND_ROWS(i, &run->ops, device)) {
        const vp_op *op = &run->r->ops[i];
        if (is_uneven_zone(run, op, all) && (!worst || zone_excess(op) > zone_excess(worst)))
            worst = op;
    }
    return worst;
}

void fnd_zone_variance(fnd_run *run)
{
    size_t zones;
    int64_t all = all_work(run, &zones);
    for (uint32_t d = 0; d < run->r->device_count; d++) {
        const vp_op *op = most_uneven_zone(run, d, all);
        if (op)
            fnd_offer(run, d, FND_BIT(FND_COMPUTE), zone_excess(op),
                      op->stddev_ps * (double)op->calls / (double)op->total_ps);
    }
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    const vp_op *op = most_uneven_zone(run, c->device, all);
    run->f->severity = VP_LEVEL_LOW;
    fnd_message(run,
                fnd_say(run, "%s%s varies widely (CV %.1f over %s calls%s): median %s, slowest %s.",
                        fnd_short(run, op->name), fnd_called_by(run, op->caller, ","), c->value,
                        fnd_count(run, op->calls), threads_phrase(run, op),
                        fnd_time(run, op->p50_ps), fnd_time(run, op->max_ps)));
    fnd_place(run, op->device, NULL, op->slowest_start_ps, op->slowest_dur_ps);
}
