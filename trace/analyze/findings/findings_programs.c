/* F47 F48 F49: programs that do work which the training step does not need. */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

#include "trace/base/err.h"

/* "fusion.2 at model.py:12" */
static const char *op_text(fnd_run *run, const vp_op *op)
{
    return fnd_say(run, "%s%s%s", fnd_short(run, op->name), op->source ? " at " : "",
                   op->source ? fnd_path(run, op->source) : "");
}

/* ---- F47 ---- */

/* Single precision halves the bytes and at least doubles the rate of arithmetic. */
void fnd_double_precision(fnd_run *run)
{
    const vp_report *r = run->r;
    int64_t sum;
    for (uint32_t d = 0; d < r->device_count; d++) {
        fnd_largest_avoidable(run, d, FND_AVOIDABLE(float64_ps), NULL, &sum);
        fnd_keep_value(run, fnd_share(sum, r->devices[d].self_ps));
        if (fnd_reaches(run, sum, r->devices[d].self_ps, FND_SHARE))
            fnd_offer(run, d, FND_BIT(FND_COMPUTE), sum / 2, fnd_share(sum, r->devices[d].self_ps));
    }
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    const vp_op *op = fnd_largest_avoidable(run, c->device, FND_AVOIDABLE(float64_ps), NULL, &sum);
    int64_t self = r->devices[c->device].self_ps;
    if (!op)
        return;
    fnd_message(run, fnd_say(run,
                             "%s computes in float64 for %s of its op time (%s of %s), most in %s. "
                             "Single precision takes half of that or less.",
                             fnd_worst(run, c), fnd_percent(run, sum, self), fnd_time(run, sum),
                             fnd_time(run, self), op_text(run, op)));
    fnd_place(run, op->device, NULL, op->slowest_start_ps, op->slowest_dur_ps);
}

/* ---- F48 ---- */

/* A program of one or two ops: the framework compiled a single operation. */
static bool is_small_program(const vp_module *m)
{
    return m->ops > 0 && m->ops <= 2 && m->op_calls > 0;
}

/* One program reads its inputs and writes its results once, where n programs pass each result
 * through memory: (n - 1)/n of the time that memory bandwidth limits is saved. So is the same part
 * of the idle time in which the host dispatches programs. */
void fnd_small_programs(fnd_run *run)
{
    const vp_report *r = run->r;
    const uint32_t dispatch = FND_BIT(FND_IDLE + VP_CAUSE_HOST) | FND_BIT(FND_IDLE + VP_CAUSE_CALL);
    const size_t member = FND_AVOIDABLE(elementwise_ps);
    int64_t steps = r->steps.counted, calls = 0, small, sum;
    VP_CLEANUP(vp_map_free) vp_map names = {0}; /* of small programs, hashed */
    for (size_t i = 0; i < r->module_count; i++) {
        const vp_module *m = &r->modules[i];
        if (!is_small_program(m))
            continue;
        vp_str name = vp_str_of(m->name);
        calls += m->op_calls;
        if (vp_map_set(&names, vp_hash(name.p, name.n, 0), 1) < 0)
            run->out_of_memory = true;
    }
    small = calls / (steps * (int64_t)r->device_count);
    if (small < run->rule->limits[FND_NUMBER])
        return;
    for (uint32_t d = 0; d < r->device_count; d++) {
        fnd_largest_avoidable(run, d, member, &names, &sum);
        int64_t idle =
            r->devices[d].cause_ps[VP_CAUSE_HOST] + r->devices[d].cause_ps[VP_CAUSE_CALL];
        int64_t compute = fnd_of(sum, small - 1, small);
        /* the host also does other things: its time counts if most of the launches are small */
        idle =
            fnd_above(calls, r->devices[d].launch.calls, 500) ? fnd_of(idle, small - 1, small) : 0;
        int64_t saved = compute + (idle > 0 ? idle : 0);
        fnd_keep_value(run, fnd_share(saved, fnd_window(run, d)));
        if (!fnd_reaches(run, saved, fnd_window(run, d), FND_SHARE))
            continue;
        fnd_claim *c = fnd_offer(run, d, FND_BIT(FND_COMPUTE) | (idle > 0 ? dispatch : 0), saved,
                                 fnd_share(saved, fnd_window(run, d)));
        c->part_ps[FND_COMPUTE] = compute;
    }
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    const vp_op *op = fnd_largest_avoidable(run, c->device, member, &names, &sum);
    fnd_message(
        run, fnd_say(run,
                     "%s programs of one or two ops run in each step on %s, such as %s%s%s. "
                     "Each one reads and writes memory and is dispatched by the host; one "
                     "compiled program does not.",
                     fnd_count(run, small), fnd_worst(run, c),
                     op ? fnd_short(run, op->module) : "jit_add", op && op->source ? " from " : "",
                     op && op->source ? fnd_path(run, op->source) : ""));
    if (op)
        fnd_place(run, op->device, NULL, op->slowest_start_ps, op->slowest_dur_ps);
    else
        fnd_place_in_step(run, c->device, NULL);
}

/* ---- F49 ---- */

/* The module that runs in nearly all steps and takes longest in them. */
static const vp_module *step_module(const vp_report *r)
{
    const vp_module *best = NULL;
    for (size_t i = 0; i < r->module_count; i++) {
        const vp_module *m = &r->modules[i];
        if (fnd_at_least(m->in_steps, r->steps.counted, 900) &&
            (!best || m->in_steps_ps > best->in_steps_ps))
            best = m;
    }
    return best;
}

/* The module that takes longest of those that run in some of the steps. */
static const vp_module *occasional_module(const fnd_run *run)
{
    const vp_report *r = run->r;
    const vp_module *best = NULL;
    for (size_t i = 0; i < r->module_count; i++) {
        const vp_module *m = &r->modules[i];
        if (m->in_steps > 0 && !fnd_exceeds(run, m->in_steps, r->steps.counted, FND_PART) &&
            (!best || m->in_steps_ps > best->in_steps_ps))
            best = m;
    }
    return best;
}

static const vp_op *op_of_module(const vp_report *r, const vp_module *m)
{
    const vp_op *best = NULL;
    for (size_t i = 0; i < r->op_count; i++)
        if (r->ops[i].module && r->ops[i].source && !strcmp(r->ops[i].module, m->name) &&
            (!best || r->ops[i].self_ps > best->self_ps))
            best = &r->ops[i];
    return best;
}

void fnd_occasional_program(fnd_run *run)
{
    const vp_report *r = run->r;
    const vp_module *m = occasional_module(run), *main = step_module(r);
    int64_t windows = fnd_windows(run);
    if (!m || !main)
        return;
    run->f->value = fnd_share(m->in_steps_ps, windows);
    if (!fnd_reaches(run, m->in_steps_ps, windows, FND_SHARE))
        return;
    for (uint32_t d = 0; d < r->device_count; d++)
        fnd_offer(run, d, FND_BIT(FND_COMPUTE), fnd_of(m->in_steps_ps, fnd_window(run, d), windows),
                  run->f->value);
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    const vp_op *op = op_of_module(r, m);
    fnd_message(run, fnd_say(run,
                             "%s runs %s time%s in %s of %s steps and takes %s (%s of the devices' "
                             "windows)%s%s; %s runs in every step.",
                             fnd_short(run, m->name), fnd_count(run, m->runs),
                             m->runs == 1 ? "" : "s", fnd_count(run, m->in_steps),
                             fnd_count(run, r->steps.counted), fnd_time(run, m->in_steps_ps),
                             fnd_percent(run, m->in_steps_ps, windows), op ? ", from " : "",
                             op ? fnd_path(run, op->source) : "", fnd_short(run, main->name)));
    if (op)
        fnd_place(run, op->device, NULL, op->slowest_start_ps, op->slowest_dur_ps);
    else
        fnd_place_in_step(run, c->device, m->name);
}
