/* F47 F48 F49: programs that do work which the training step does not need. */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

#include "trace/base/err.h"

/* ---- F47 ---- */

/* Single precision halves the bytes and at least doubles the rate of arithmetic. */
void fnd_double_precision(fnd_run *run)
{
    const vp_report *r = run->r;
    int64_t sum;
    if (!r->has_devices) {
        fnd_torch_float64(run);
        return;
    }
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
                             fnd_time(run, self), fnd_op_at(run, op)));
    fnd_place(run, op->device, NULL, op->slowest_start_ps, op->slowest_dur_ps);
}

/* ---- F48 ---- */

/* A program of one or two ops: the framework compiled a single operation. */
static bool is_small_program(const vp_module *m)
{
    return m->ops > 0 && m->ops <= 2 && m->op_calls > 0;
}

/* What one program in place of `small` programs in each step saves on a device. */
typedef struct small_programs {
    int64_t small, calls; /* in each step; in all */
    int64_t compute_ps, dispatch_ps;
    fnd_function f;  /* that launches them, its time saved by the replay; f.f NULL: unknown */
    const vp_op *op; /* the largest of their element-wise ops; may be NULL */
} small_programs;

static int64_t saved_by_one(const small_programs *s)
{
    return s->compute_ps + s->dispatch_ps;
}

/* One program reads its inputs and writes its results once, where n programs pass each result
 * through memory: (n - 1)/n of the time that memory bandwidth limits is saved. So is the same part
 * of the idle time in which the host dispatches programs, or, if the function that launches them is
 * known, what a replay without it saves besides their time on the device. */
static small_programs find_small_programs(fnd_run *run, uint32_t d, const vp_map *names,
                                          int64_t small, int64_t calls)
{
    const vp_device *dev = &run->r->devices[d];
    small_programs s = {.small = small, .calls = calls, .f = fnd_costly_function(run, d)};
    int64_t sum, idle = dev->cause_ps[VP_CAUSE_HOST] + dev->cause_ps[VP_CAUSE_CALL];
    s.op = fnd_largest_avoidable(run, d, FND_AVOIDABLE(elementwise_ps), names, &sum);
    s.compute_ps = fnd_of(sum, small - 1, small);
    /* The host also does other things: its time counts if most of the launches are small. */
    if (idle > 0 && fnd_above(calls, dev->launch.calls, 500))
        s.dispatch_ps = fnd_of(idle, small - 1, small);
    int64_t host = s.f.saved_ps - s.f.run_ps;
    if (s.f.role == FND_ROLE_LAUNCHES && host > s.dispatch_ps)
        s.dispatch_ps = host;
    else
        s.f = (fnd_function){0};
    return s;
}

static void offer_small_programs(fnd_run *run, uint32_t d, const small_programs *s)
{
    int64_t saved = saved_by_one(s), window = fnd_window(run, d);
    double share = fnd_share(saved, window);
    fnd_keep_value(run, share);
    if (!fnd_reaches(run, saved, window, FND_SHARE))
        return;
    if (s->f.f) {
        fnd_offer_predicted(run, d, saved, s->compute_ps, share);
        return;
    }
    const uint32_t dispatch = FND_BIT(FND_IDLE + VP_CAUSE_HOST) | FND_BIT(FND_IDLE + VP_CAUSE_CALL);
    fnd_claim *c =
        fnd_offer(run, d, FND_BIT(FND_COMPUTE) | (s->dispatch_ps > 0 ? dispatch : 0), saved, share);
    c->part_ps[FND_COMPUTE] = s->compute_ps;
}

/* Small programs by name, hashed. Returns how often they run. */
static int64_t name_small_programs(fnd_run *run, vp_map *names)
{
    int64_t calls = 0;
    for (size_t i = 0; i < run->r->module_count; i++) {
        const vp_module *m = &run->r->modules[i];
        if (!is_small_program(m))
            continue;
        vp_str name = vp_str_of(m->name);
        calls += m->op_calls;
        if (vp_map_set(names, vp_hash(name.p, name.n, 0), 1) < 0)
            run->out_of_memory = true;
    }
    return calls;
}

static const char *small_programs_text(fnd_run *run, const fnd_claim *c, const small_programs *s)
{
    const char *where =
        s->f.f ? fnd_say(run, "; %s launches %s in %s call%s", fnd_path(run, s->f.f->name),
                         fnd_count(run, s->f.f->launches), fnd_count(run, s->f.f->calls),
                         s->f.f->calls == 1 ? "" : "s")
        : s->op
            ? fnd_say(run, ", such as %s%s%s", fnd_short(run, s->op->module),
                      s->op->source ? " from " : "", s->op->source ? fnd_op_place(run, s->op) : "")
            : "";
    return fnd_say(run,
                   "%s programs of one or two ops run in each step on %s%s. Each one reads and "
                   "writes memory and is dispatched by the host; one compiled program does not.",
                   fnd_count(run, s->small), fnd_worst(run, c), where);
}

void fnd_small_programs(fnd_run *run)
{
    const vp_report *r = run->r;
    VP_CLEANUP(vp_map_free) vp_map names = {0};
    int64_t calls = name_small_programs(run, &names);
    int64_t small = calls / (r->steps.counted * (int64_t)r->device_count);
    if (small < run->rule->limits[FND_NUMBER])
        return;
    for (uint32_t d = 0; d < r->device_count; d++) {
        const small_programs s = find_small_programs(run, d, &names, small, calls);
        offer_small_programs(run, d, &s);
    }
    const fnd_claim *c = fnd_settle(run);
    if (!c)
        return;
    const small_programs s = find_small_programs(run, c->device, &names, small, calls);
    fnd_message(run, small_programs_text(run, c, &s));
    if (s.f.f) {
        fnd_predicted(run, c->device);
        fnd_place(run, c->device, NULL, s.f.f->max_start_ps, s.f.f->max_ps);
    } else if (s.op) {
        fnd_place(run, s.op->device, NULL, s.op->slowest_start_ps, s.op->slowest_dur_ps);
    } else {
        fnd_place_in_step(run, c->device, NULL);
    }
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
    const vp_op *op = fnd_op_of_module(r, m);
    fnd_message(run, fnd_say(run,
                             "%s runs %s time%s in %s of %s steps and takes %s (%s of the devices' "
                             "windows)%s%s; %s runs in every step.",
                             fnd_short(run, m->name), fnd_count(run, m->runs),
                             m->runs == 1 ? "" : "s", fnd_count(run, m->in_steps),
                             fnd_count(run, r->steps.counted), fnd_time(run, m->in_steps_ps),
                             fnd_percent(run, m->in_steps_ps, windows), op ? ", from " : "",
                             op ? fnd_op_place(run, op) : "", fnd_short(run, main->name)));
    if (op)
        fnd_place(run, op->device, NULL, op->slowest_start_ps, op->slowest_dur_ps);
    else
        fnd_place_in_step(run, c->device, m->name);
}
