/* Savings predicted by replay (docs/reference/findings.md#predicted-savings): what a step takes
 * without a function of the program, or without its waits. */
#include "trace/analyze/findings/findings_run.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/sums.h"

/* A replay that misses the recorded time by more predicts nothing, in permille. */
#define ERROR_MAX 50

static const fnd_host *host_of_device(const fnd_run *run, uint32_t device)
{
    return fnd_host_of(run, run->r->devices[device].host);
}

static const vp_replay *replay_of(const fnd_run *run, uint32_t device)
{
    const fnd_host *host = host_of_device(run, device);
    return host ? host->replay : NULL;
}

/* Part of the device's window, from a part of the replayed time. */
static int64_t predicted_ps(const fnd_run *run, uint32_t device, const vp_replay *x,
                            int64_t without_ps)
{
    int64_t saved = x->replayed_ps - without_ps;
    return saved > 0 ? fnd_of(saved, fnd_window(run, device), x->replayed_ps) : 0;
}

static fnd_function_role role_of(const vp_user_function *f)
{
    return f->reads >= FND_PER_CALL * f->calls      ? FND_ROLE_READS
           : f->launches >= FND_PER_CALL * f->calls ? FND_ROLE_LAUNCHES
                                                    : FND_ROLE_WORKS;
}

fnd_function fnd_costly_function(const fnd_run *run, uint32_t device)
{
    const fnd_host *host = host_of_device(run, device);
    const vp_user_function *f = host ? host->costly : NULL;
    int64_t window = fnd_window(run, device);
    if (!f)
        return (fnd_function){0};
    return (fnd_function){f, predicted_ps(run, device, host->replay, f->without_ps), role_of(f),
                          fnd_of(f->run_ps, window, host->replay->replayed_ps)};
}

/* ---- By host ---- */

/* Functions by host and name. */
static uint64_t function_key(const fnd_host *host, const char *name)
{
    vp_str s = vp_str_of(name ? name : "");
    return vp_hash(s.p, s.n, (uint64_t)(uintptr_t)host);
}

/* Adds the time of input, garbage collection and files to the functions that call them, or that
 * they call: these belong to other rules. */
static int add_activities(const fnd_run *run, int64_t *claimed_ps)
{
    const vp_report *r = run->r;
    VP_CLEANUP(vp_map_free) vp_map at = {0};
    for (size_t i = 0; i < r->user_function_count; i++) {
        const vp_user_function *f = &r->user_functions[i];
        VP_TRY(vp_map_set(&at, function_key(fnd_host_of(run, f->host), f->name), (uint32_t)i));
    }
    for (size_t i = 0; i < r->activity_count; i++) {
        const vp_activity *x = &r->activities[i];
        const fnd_host *host = fnd_host_of(run, x->host);
        uint32_t caller = x->caller ? vp_map_get(&at, function_key(host, x->caller)) : VP_MAP_NONE;
        uint32_t callee = x->callee ? vp_map_get(&at, function_key(host, x->callee)) : VP_MAP_NONE;
        if (caller != VP_MAP_NONE)
            claimed_ps[caller] = vp_add_most(claimed_ps[caller], x->total_ps);
        if (callee != VP_MAP_NONE && callee != caller)
            claimed_ps[callee] = vp_add_most(claimed_ps[callee], x->total_ps);
    }
    return 0;
}

int fnd_index_replays(fnd_run *run)
{
    const vp_report *r = run->r;
    int64_t *claimed_ps =
        vp_arena_zalloc(&run->scratch, (r->user_function_count + 1) * sizeof *claimed_ps);
    VP_NEED(claimed_ps);
    VP_TRY(add_activities(run, claimed_ps));
    for (size_t i = 0; i < r->replay_count; i++) {
        const vp_replay *x = &r->replays[i];
        fnd_host *host = fnd_host_of(run, x->host);
        if (host && !host->replay &&
            !fnd_above(llabs(x->replayed_ps - x->recorded_ps), x->recorded_ps, ERROR_MAX))
            host->replay = x;
    }
    for (size_t i = 0; i < r->user_function_count; i++) {
        const vp_user_function *f = &r->user_functions[i];
        fnd_host *host = fnd_host_of(run, f->host);
        if (host && host->replay && f->without_ps < host->replay->replayed_ps &&
            claimed_ps[i] <= f->total_ps / 2 &&
            (!host->costly || f->without_ps < host->costly->without_ps))
            host->costly = f;
    }
    return 0;
}

int64_t fnd_unwaited(const fnd_run *run, uint32_t device, const char **waiter)
{
    const vp_replay *x = replay_of(run, device);
    *waiter = x ? x->waiter : NULL;
    return x ? predicted_ps(run, device, x, x->unwaited_ps) : 0;
}

/* Claims a predicted saving: idle time of any cause but those of other rules, and of the runs that
 * the function launches. */
void fnd_offer_predicted(fnd_run *run, uint32_t device, int64_t saved_ps, int64_t run_ps,
                         double value)
{
    fnd_claim *c = fnd_offer(run, device, FND_HOST_WAITS, saved_ps, value);
    int64_t compute = run->devices[device].whole_ps[FND_COMPUTE];
    c->part_ps[FND_COMPUTE] = run_ps < compute ? run_ps : compute;
}

void fnd_predicted(fnd_run *run, uint32_t device)
{
    const vp_replay *x = replay_of(run, device);
    if (!x)
        return;
    run->f->is_predicted = true;
    fnd_caveat(run,
               fnd_say(run,
                       "Predicted by replaying the launches and waits of the program; the "
                       "replay of the recorded program differs by %s.",
                       fnd_percent(run, llabs(x->replayed_ps - x->recorded_ps), x->recorded_ps)));
}
