/* F10 and F11. Compile time is that of the host: its share is of the capture, and it claims the
 * idle time that compiling caused on the devices of that host. Hosts compile concurrently, so their
 * times are not added up: the worst one counts. */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

/* The avoidable compile time of a function: all compiles except the first; if the first was late,
 * all. */
static int64_t in_vain(const vp_function *f)
{
    int64_t repeat = f->compiles >= 2 ? f->repeat_ps : 0;
    return repeat > f->late_ps ? repeat : f->late_ps;
}

/* The same with tracing and lowering, which repeat with each compile. */
static int64_t in_vain_with_tracing(const vp_function *f)
{
    return in_vain(f) + (in_vain(f) > 0 && f->prepare_ps > 0 ? f->prepare_ps : 0);
}

/* The host with the most avoidable compile time; ties: the first by name. */
static const fnd_host *worst_host(fnd_run *run)
{
    const vp_compile *c = &run->r->compile;
    const fnd_host *worst = run->hosts;
    for (size_t i = 0; i < c->function_count; i++) {
        fnd_host *host = fnd_host_of(run, c->functions[i].host);
        if (host && in_vain(&c->functions[i]) > 0)
            host->in_vain_ps += in_vain(&c->functions[i]);
        if (host && in_vain(&c->functions[i]) > 0)
            host->tracing_ps += in_vain_with_tracing(&c->functions[i]) - in_vain(&c->functions[i]);
    }
    if (run->r->host_count < 2 && c->late_ps > run->hosts->in_vain_ps)
        run->hosts->in_vain_ps = c->late_ps; /* compiles outside of functions */
    for (size_t i = 1; i < run->r->host_count; i++)
        if (run->hosts[i].in_vain_ps > worst->in_vain_ps)
            worst = &run->hosts[i];
    return worst;
}

static const vp_function *worst_function(const fnd_run *run, const fnd_host *host, size_t *count,
                                         int64_t *compiles, int64_t *late)
{
    const vp_function *worst = NULL;
    *count = 0;
    *compiles = *late = 0;
    for (size_t i = 0; i < run->r->compile.function_count; i++) {
        const vp_function *f = &run->r->compile.functions[i];
        if (fnd_host_of(run, f->host) != host || in_vain(f) <= 0)
            continue;
        ++*count;
        *compiles += f->compiles;
        *late += f->late;
        if (!worst || in_vain(f) > in_vain(worst))
            worst = f;
    }
    return worst;
}

/* Sets the values that fnd_settle sets for rules about devices. Several threads may compile
 * concurrently, but the saving is at most the window. more_ps: the part other than compile time. */
static bool settle_compile_share(fnd_run *run, int64_t gross_ps, int64_t more_ps, int64_t window_ps)
{
    vp_finding *f = run->f;
    gross_ps = gross_ps < window_ps ? gross_ps : window_ps;
    int64_t left = run->compile_left_ps + more_ps;
    int64_t rest = gross_ps < left ? gross_ps : left;
    f->window_ps = window_ps;
    f->gross_ps = gross_ps;
    f->impact_ps = rest;
    f->severity = fnd_level(rest, window_ps);
    if (!fnd_reaches(run, gross_ps, window_ps, FND_SHARE))
        return false;
    if (fnd_too_little(rest, window_ps)) {
        fnd_explain(run, run->compile_takers);
        return true;
    }
    f->status = VP_FIRED;
    run->compile_left_ps -= rest > more_ps ? rest - more_ps : 0;
    run->compile_takers |= run->rule_bit;
    return true;
}

static void place_on_host(fnd_run *run, const char *track, int64_t start_ps, int64_t dur_ps,
                          const char *host)
{
    fnd_place(run, VP_NO_DEVICE, track, start_ps, dur_ps);
    if (run->f->where_count)
        run->f->where[run->f->where_count - 1].host = host;
}

/* Places of compilers outside of functions (torch.compile): their own spans. */
static void place_compiler(fnd_run *run)
{
    const vp_host_op *longest = NULL;
    for (size_t i = 0; i < run->r->host_op_count; i++) {
        const vp_host_op *op = &run->r->host_ops[i];
        if (op->cause == VP_CAUSE_COMPILE && (!longest || op->max_ps > longest->max_ps))
            longest = op;
    }
    if (longest && !run->f->where_count)
        place_on_host(run, longest->thread, longest->max_start_ps, longest->max_ps, longest->host);
}

static void place_functions(fnd_run *run, const fnd_host *host)
{
    const vp_compile *c = &run->r->compile;
    for (size_t i = 0; i < c->function_count; i++) {
        const vp_function *fn = &c->functions[i];
        if (fnd_host_of(run, fn->host) != host || in_vain(fn) <= 0)
            continue;
        place_on_host(run, fn->name, fn->last_start_ps, fn->last_dur_ps, fn->host);
    }
    place_compiler(run);
}

/* The end of the program: a profiler without devices records its own end, too. */
static int64_t program_end(const vp_report *r)
{
    return !r->has_devices && r->end_ps > 0 && r->end_ps < r->capture_ps ? r->end_ps
                                                                         : r->capture_ps;
}

/* The earliest time at which a host compiles a function avoidably. */
static int64_t ready_time(const fnd_run *run, const fnd_host *host)
{
    const vp_compile *c = &run->r->compile;
    int64_t ready = INT64_MAX;
    for (size_t i = 0; i < c->function_count; i++)
        if (fnd_host_of(run, c->functions[i].host) == host && in_vain(&c->functions[i]) > 0 &&
            c->functions[i].ready_ps < ready)
            ready = c->functions[i].ready_ps;
    return ready > 0 && ready < program_end(run->r) ? ready : 0;
}

/* "76.62% of 334.60 ms", "94.90% of the 240.55 ms after the first one". */
static const char *of_window(fnd_run *run, int64_t gross_ps, int64_t window_ps, bool first)
{
    const char *share = fnd_percent(run, gross_ps, window_ps), *whole = fnd_time(run, window_ps);
    return first ? fnd_say(run, "%s of the %s after the first one", share, whole)
                 : fnd_say(run, "%s of the capture (%s)", share, whole);
}

void fnd_recompile(fnd_run *run)
{
    const vp_report *r = run->r;
    const fnd_host *host = worst_host(run);
    size_t functions;
    int64_t compiles, late, gross = host->in_vain_ps + host->tracing_ps;
    const vp_function *fn = worst_function(run, host, &functions, &compiles, &late);
    int64_t ready = ready_time(run, host), window = program_end(r) - ready;
    gross = gross < window ? gross : window;
    run->f->value = (double)gross / (double)window;
    if (gross <= 0 || !settle_compile_share(run, gross, host->tracing_ps, window))
        return;
    if (fn)
        fnd_message(
            run,
            fnd_say(run, "%s is compiled %s time%s%s%s%s of avoidable compilation, %s%s%s%s%s.",
                    strncmp(fn->name, "frame ", 6) ? fnd_short(run, fn->name) : fn->name,
                    fnd_count(run, fn->compiles), fn->compiles == 1 ? "" : "s",
                    fn->late
                        ? fnd_say(run, " (%s after execution started)", fnd_count(run, fn->late))
                        : "",
                    functions > 1 ? fnd_say(run, "; with %zu other function%s: ", functions - 1,
                                            functions == 2 ? "" : "s")
                                  : ": ",
                    fnd_time(run, gross), of_window(run, gross, window, ready > 0),
                    fn->caller ? "; called by " : "", fn->caller ? fnd_short(run, fn->caller) : "",
                    fn->changes ? "; " : "", fn->changes ? fn->changes : ""));
    else
        fnd_message(run, fnd_say(run, "%s compilation%s after execution started: %s, %s.",
                                 fnd_count(run, r->compile.late), r->compile.late == 1 ? "" : "s",
                                 fnd_time(run, gross), of_window(run, gross, window, ready > 0)));
    place_functions(run, host);
    for (uint32_t d = 0; d < r->device_count && run->f->status == VP_FIRED; d++) {
        const fnd_host *own = fnd_host_of(run, r->devices[d].host);
        fnd_take(run, d, FND_BIT(VP_CAUSE_COMPILE), own ? own->in_vain_ps : 0);
        if (r->has_devices)
            fnd_take(run, d, FND_BIT(VP_CAUSE_HOST), own ? own->tracing_ps : 0);
    }
}

/* The function with the longest compile time, among those that a warm program would not compile. */
static void place_first_compile(fnd_run *run)
{
    const vp_compile *c = &run->r->compile;
    const vp_function *worst = NULL;
    for (size_t i = 0; i < c->function_count; i++)
        if (c->functions[i].compiles > c->functions[i].late &&
            (!worst || c->functions[i].total_ps > worst->total_ps))
            worst = &c->functions[i];
    if (worst)
        place_on_host(run, worst->name, worst->first_start_ps, worst->first_dur_ps, worst->host);
    place_compiler(run);
}

void fnd_compile_share(fnd_run *run)
{
    const vp_report *r = run->r;
    int64_t hosts = r->host_count > 1 ? (int64_t)r->host_count : 1;
    int64_t gross = r->compile.before_steps_ps / hosts;
    if (r->compile.before_steps_ps < 0) {
        fnd_lacks(run, FND_NEED_STEPS);
        return;
    }
    run->f->value = (double)gross / (double)r->capture_ps;
    if (!fnd_exceeds(run, gross, r->capture_ps, FND_SHARE) ||
        !settle_compile_share(run, gross, 0, r->capture_ps))
        return;
    fnd_message(run, fnd_say(run,
                             "Compilation before the step's program first runs takes %s of the "
                             "capture (%s of %s%s): the profile shows startup, not steady state.",
                             fnd_percent(run, gross, r->capture_ps), fnd_time(run, gross),
                             fnd_time(run, r->capture_ps), hosts > 1 ? ", mean of the hosts" : ""));
    place_first_compile(run);
    for (uint32_t d = 0; d < r->device_count && run->f->status == VP_FIRED; d++)
        fnd_take(run, d, FND_BIT(VP_CAUSE_COMPILE), gross);
}
