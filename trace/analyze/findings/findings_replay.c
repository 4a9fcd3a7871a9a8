/* Savings predicted by replay (docs/reference/findings.md#predicted-savings): what a step takes
 * without a function of the program, or without its waits. */
#include "trace/analyze/findings/findings_run.h"

#include <stdlib.h>
#include <string.h>

/* A replay that misses the recorded time by more predicts nothing, in permille. */
#define ERROR_MAX 50

static const vp_replay *replay_of(const fnd_run *run, uint32_t device)
{
    const vp_report *r = run->r;
    const fnd_host *host = fnd_host_of(run, r->devices[device].host);
    for (size_t i = 0; i < r->replay_count; i++) {
        const vp_replay *x = &r->replays[i];
        if (fnd_host_of(run, x->host) == host &&
            !fnd_above(llabs(x->replayed_ps - x->recorded_ps), x->recorded_ps, ERROR_MAX))
            return x;
    }
    return NULL;
}

/* Part of the device's window, from a part of the replayed time. */
static int64_t predicted_ps(const fnd_run *run, uint32_t device, const vp_replay *x,
                            int64_t without_ps)
{
    int64_t saved = x->replayed_ps - without_ps;
    return saved > 0 ? fnd_of(saved, fnd_window(run, device), x->replayed_ps) : 0;
}

/* Whether a function mainly does what another rule is about: input, garbage, files. */
static bool is_activity(const vp_report *r, const vp_user_function *f)
{
    int64_t sum = 0;
    for (size_t i = 0; i < r->activity_count; i++) {
        const vp_activity *x = &r->activities[i];
        if ((x->caller && !strcmp(x->caller, f->name)) ||
            (x->callee && !strcmp(x->callee, f->name)))
            sum += x->total_ps;
    }
    return 2 * sum > f->total_ps;
}

fnd_function_role fnd_role_of(const vp_user_function *f)
{
    return f->reads >= FND_PER_CALL * f->calls      ? FND_ROLE_READS
           : f->launches >= FND_PER_CALL * f->calls ? FND_ROLE_LAUNCHES
                                                    : FND_ROLE_WORKS;
}

fnd_function fnd_costly_function(const fnd_run *run, uint32_t device)
{
    const vp_report *r = run->r;
    const vp_replay *x = replay_of(run, device);
    fnd_function best = {0};
    for (size_t i = 0; x && i < r->user_function_count; i++) {
        const vp_user_function *f = &r->user_functions[i];
        if (fnd_host_of(run, f->host) != fnd_host_of(run, x->host) || is_activity(r, f))
            continue;
        int64_t ps = predicted_ps(run, device, x, f->without_ps);
        if (ps > best.saved_ps)
            best = (fnd_function){f, ps, fnd_role_of(f),
                                  fnd_of(f->run_ps, fnd_window(run, device), x->replayed_ps)};
    }
    return best;
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
