/* F23 and F22: the rules without a time that could be won. */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

/* Entries of quality that tell of no loss of data, and yet make figures wrong. */
static bool spoils_figures(const vp_quality *q)
{
    static const char *const codes[] = {"clock-skew",   "graph-captured", "no-device",
                                        "unlinked-ops", "empty-window",   "no-durations"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (q->code && !strcmp(q->code, codes[i]))
            return true;
    return q->partial;
}

/* Entries that only recordings of our own library have: no framework's advice would help. */
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
    if (note)
        fnd_message(
            run,
            fnd_say(run, "Numbers in this profile may be wrong: %s%s.",
                    note->message ? note->message : note->code,
                    notes > 1 ? fnd_say(run, " (and %zu more; see data quality)", notes - 1) : ""));
    else
        fnd_message(run, "A file of this profile is incomplete, and so are sums and shares.");
}
