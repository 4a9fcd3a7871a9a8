/* F23 and F22: the rules without a saving of time. */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

/* Entries of quality without data loss that still make figures wrong. */
static bool spoils_figures(const vp_quality *q)
{
    static const char *const codes[] = {"clock-skew",   "graph-captured",  "no-device",
                                        "unlinked-ops", "empty-window",    "no-durations",
                                        "lost-kernels", "gpu-not-recorded"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (q->code && !strcmp(q->code, codes[i]))
            return true;
    return q->partial;
}

/* Entries that only recordings of our own library have: advice for frameworks does not apply. */
static bool recorded_here(const vp_quality *q)
{
    static const char *const codes[] = {"lost-zones", "cut-off", "unfinished"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (q->code && !strcmp(q->code, codes[i]))
            return true;
    return false;
}

static const char recorder_advice[] =
    "Increase the buffer (pool_bytes), keep the newest events (mode VP_RING), omit finer levels "
    "(level), or record fewer steps. Stop the recording (vp_stop) before the program exits.";

/* The advice for one kind of entry; NULL: the rule's own advice. */
static const char *advice_of(const vp_quality *q)
{
    static const struct {
        const char *code, *advice;
    } table[] = {
        {"gpu-not-recorded",
         "Add ProfilerActivity.CUDA to the activities of torch.profiler.profile, "
         "and use a build of PyTorch with Kineto and CUPTI or rocprofiler."},
        {"lost-kernels", "Warm up the profiler (schedule with warmup=1), call "
                         "torch.cuda.synchronize() before the first and after the last recorded "
                         "step, and record fewer steps."},
        {"no-time", "Synchronize the device before the recording ends (torch.cuda.synchronize(), "
                    "jax.block_until_ready), and record again, with a newer profiler if possible."},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (q->code && !strcmp(q->code, table[i].code))
            return table[i].advice;
    return NULL;
}

typedef enum harm { LOST, SPOILT, NONE } harm;

static harm harm_of(const vp_quality *q)
{
    if (q->severity == VP_SEV_ERROR || (q->partial && q->severity == VP_SEV_WARNING))
        return LOST;
    return spoils_figures(q) ? SPOILT : NONE;
}

void fnd_trace_unreliable(fnd_run *run)
{
    const vp_report *r = run->r;
    const vp_quality *note = NULL;
    harm worst = NONE;
    size_t notes = 0;
    for (size_t i = 0; i < r->quality_count; i++) {
        harm h = harm_of(&r->quality[i]);
        if (h != NONE && recorded_here(&r->quality[i]))
            run->f->suggestion = recorder_advice;
        notes += h != NONE;
        if (h < worst) {
            worst = h;
            note = &r->quality[i];
        }
    }
    run->f->value = (double)notes;
    if (!note && !r->partial)
        return;
    run->f->status = VP_FIRED;
    run->f->severity = worst == SPOILT ? VP_LEVEL_MEDIUM : VP_LEVEL_HIGH;
    if (note && advice_of(note))
        run->f->suggestion = advice_of(note);
    if (note)
        fnd_message(
            run,
            fnd_say(run, "Numbers in this profile may be wrong: %s%s.",
                    note->message ? note->message : note->code,
                    notes > 1 ? fnd_say(run, " (and %zu more; see data quality)", notes - 1) : ""));
    else
        fnd_message(run, "A file of this profile is incomplete, and so are sums and shares.");
}
