/* F50 F51 F52 F53: avoidable work in compiled programs. */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

static int64_t avoidable_of(const fnd_run *run, uint32_t device, size_t member)
{
    int64_t ps;
    fnd_largest_avoidable(run, device, member, NULL, &ps);
    return ps;
}

/* Offers a part of each device's op time that reaches the rule's share of the window. */
static const fnd_claim *claim_avoidable(fnd_run *run, size_t member)
{
    for (uint32_t d = 0; d < run->r->device_count; d++)
        fnd_offer_share(run, d, FND_BIT(FND_COMPUTE), avoidable_of(run, d, member),
                        fnd_window(run, d), fnd_reaches);
    return fnd_settle(run);
}

static void cap_severity(fnd_run *run, vp_level most)
{
    if (run->f->severity > most)
        run->f->severity = most;
}

/* "TPU:0 spends 12% of its window (1 ms of 8 ms) on WHAT" */
static const char *spends_on(fnd_run *run, const fnd_claim *c, int64_t ps, const char *what)
{
    int64_t window = fnd_window(run, c->device);
    return fnd_say(run, "%s spends %s of its window (%s of %s) on %s", fnd_worst(run, c),
                   fnd_percent(run, ps, window), fnd_time(run, ps), fnd_time(run, window), what);
}

/* ---- F50 ---- */

/* Uses the larger of both parts. Updating only the used rows needs another optimizer, so it is at
 * most a medium finding. */
void fnd_dense_embedding(fnd_run *run)
{
    int64_t lookups = 0, updates = 0, ps;
    for (uint32_t d = 0; d < run->r->device_count; d++) {
        lookups += avoidable_of(run, d, FND_AVOIDABLE(lookup_ps));
        updates += avoidable_of(run, d, FND_AVOIDABLE(update_ps));
    }
    bool looks = lookups >= updates;
    size_t member = looks ? FND_AVOIDABLE(lookup_ps) : FND_AVOIDABLE(update_ps);
    const fnd_claim *c = claim_avoidable(run, member);
    const vp_op *op = c ? fnd_largest_avoidable(run, c->device, member, NULL, &ps) : NULL;
    if (!op)
        return;
    if (!looks)
        cap_severity(run, VP_LEVEL_MEDIUM);
    const char *what =
        looks ? "matmuls with one-hot operands" : "updates of all rows for gradients of few rows";
    fnd_message(run,
                fnd_say(run, "%s; most in %s, %s call%s.", spends_on(run, c, ps, what),
                        fnd_op_at(run, op), fnd_count(run, op->calls), op->calls == 1 ? "" : "s"));
    fnd_place(run, op->device, NULL, op->slowest_start_ps, op->slowest_dur_ps);
}

/* ---- F51 ---- */

/* "; the plan of jit_f takes 3.0 GiB of 16.0 GiB". *room: half of the memory or more is free. */
static const char *memory_phrase(fnd_run *run, const vp_op *op, bool *room)
{
    int64_t all = 0;
    const vp_memory_plan *p = fnd_plan_of(run->r, op->module, run->r->devices[op->device].host);
    *room = false;
    if (!p || p->reserved_bytes < 0)
        return "";
    all = run->r->devices[op->device].memory_bytes;
    *room = all > 0 && p->reserved_bytes <= all / 2;
    return fnd_say(run, "; %s reserves %s%s%s", fnd_program(run, p),
                   fnd_bytes(run, p->reserved_bytes), all > 0 ? " of the device's " : "",
                   all > 0 ? fnd_bytes(run, all) : "");
}

/* Recomputation deliberately trades time for memory: it is a high finding only if memory is known
 * to be free. */
void fnd_recomputation(fnd_run *run)
{
    const size_t member = FND_AVOIDABLE(recomputed_ps);
    const fnd_claim *c = claim_avoidable(run, member);
    int64_t ps;
    bool room;
    const vp_op *op = c ? fnd_largest_avoidable(run, c->device, member, NULL, &ps) : NULL;
    if (!op)
        return;
    const char *memory = memory_phrase(run, op, &room);
    if (!room)
        cap_severity(run, VP_LEVEL_MEDIUM);
    fnd_message(run, fnd_say(run, "%s; most in %s%s.",
                             spends_on(run, c, ps,
                                       "computing the forward pass again for the backward pass"),
                             fnd_op_at(run, op), memory));
    fnd_place(run, op->device, NULL, op->slowest_start_ps, op->slowest_dur_ps);
}

/* ---- F52 ---- */

static const vp_module *module_named(const vp_report *r, const char *name)
{
    for (size_t i = 0; i < r->module_count; i++)
        if (!strcmp(r->modules[i].name, name))
            return &r->modules[i];
    return NULL;
}

/* The module with the most time whose matmuls another program computes as well, if both run in
 * nearly all steps. *ps: the time of as many runs as the other has. */
static const vp_module *repeated_module(const fnd_run *run, int64_t *ps)
{
    const vp_report *r = run->r;
    const vp_module *best = NULL;
    *ps = 0;
    for (size_t i = 0; i < r->module_count; i++) {
        const vp_module *m = &r->modules[i];
        const vp_module *other = m->repeats ? module_named(r, m->repeats) : NULL;
        if (!other || !fnd_reaches(run, m->in_steps, r->steps.counted, FND_PART) ||
            !fnd_reaches(run, other->in_steps, r->steps.counted, FND_PART))
            continue;
        int64_t time = m->in_steps_ps;
        if (other->runs > 0 && m->runs > other->runs)
            time = fnd_of(time, other->runs, m->runs);
        if (time <= *ps)
            continue;
        best = m;
        *ps = time;
    }
    return best;
}

static void say_repeated_module(fnd_run *run, const fnd_claim *c, const vp_module *m, int64_t ps)
{
    const vp_report *r = run->r;
    const vp_op *op = fnd_op_of_module(r, m);
    fnd_message(run, fnd_say(run,
                             "%s computes matmuls that %s computes as well%s%s, in %s of %s steps. "
                             "It takes %s (%s of the devices' windows).",
                             fnd_short(run, m->name), fnd_short(run, m->repeats),
                             op ? ", from " : "", op ? fnd_op_place(run, op) : "",
                             fnd_count(run, m->in_steps), fnd_count(run, r->steps.counted),
                             fnd_time(run, ps), fnd_percent(run, ps, fnd_windows(run))));
    if (op)
        fnd_place(run, op->device, NULL, op->slowest_start_ps, op->slowest_dur_ps);
    else
        fnd_place_in_step(run, c->device, m->name);
}

/* Within one program the operands are known to be equal, so nothing lowers the severity. */
static void repeated_loops(fnd_run *run)
{
    const size_t member = FND_AVOIDABLE(repeated_ps);
    const fnd_claim *c = claim_avoidable(run, member);
    int64_t ps;
    const vp_op *op = c ? fnd_largest_avoidable(run, c->device, member, NULL, &ps) : NULL;
    if (!op)
        return;
    fnd_message(run,
                fnd_say(run, "%s; most in %s of %s.",
                        spends_on(run, c, ps, "a loop whose matmuls another loop computes as well"),
                        fnd_op_at(run, op), fnd_short(run, op->module ? op->module : "a program")));
    fnd_place(run, op->device, NULL, op->slowest_start_ps, op->slowest_dur_ps);
}

void fnd_repeated_forward(fnd_run *run)
{
    const vp_report *r = run->r;
    int64_t ps, windows = fnd_windows(run);
    const vp_module *m = repeated_module(run, &ps);
    if (!m || !fnd_reaches(run, ps, windows, FND_SHARE)) {
        run->f->value = fnd_share(ps, windows);
        repeated_loops(run);
        return;
    }
    for (uint32_t d = 0; d < r->device_count; d++)
        fnd_offer(run, d, FND_BIT(FND_COMPUTE), fnd_of(ps, fnd_window(run, d), windows),
                  fnd_share(ps, windows));
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    cap_severity(run, VP_LEVEL_MEDIUM);
    say_repeated_module(run, c, m, ps);
}

/* ---- F53 ---- */

void fnd_unrolled(fnd_run *run)
{
    const size_t member = FND_AVOIDABLE(unrolled_ps);
    const fnd_claim *c = claim_avoidable(run, member);
    int64_t ps;
    const vp_op *op = c ? fnd_largest_avoidable(run, c->device, member, NULL, &ps) : NULL;
    if (!op)
        return;
    fnd_message(run, fnd_say(run, "%s; most in %s: %s calls of %s each.",
                             spends_on(run, c, ps, "the overhead of small ops of equal shape"),
                             fnd_op_at(run, op), fnd_count(run, op->calls),
                             fnd_time(run, op->calls > 0 ? op->self_ps / op->calls : op->self_ps)));
    fnd_place(run, op->device, NULL, op->slowest_start_ps, op->slowest_dur_ps);
}
