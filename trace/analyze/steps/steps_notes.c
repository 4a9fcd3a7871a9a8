/* Quality notes on steps: left out or out of order, and whether they contain the work. */
#include <stdio.h>

#include "trace/analyze/result/look_up.h"
#include "trace/analyze/steps/steps_parts.h"
#include "trace/base/err.h"

static int note_steps_left_out(host_result *h, const step_search *s)
{
    char text[160];
    size_t n = 0;
    for (size_t i = 0; i < s->beside.n; i++)
        n += s->beside.v[i].step == STEP_NONE;
    if (!n)
        return 0;
    snprintf(text, sizeof text,
             "%zu step%s alongside those of the main thread, with separate numbers; they are left "
             "out",
             n, n == 1 ? " of another thread runs" : "s of other threads run");
    return host_note(h, "steps-overlap", VP_SEV_INFO, text);
}

/* Marks that begin before the previous one has ended, by more than the rounding of clocks (1% of
 * its length); and those with a smaller number than the previous one. Marks are sorted by start. */
static void count_disorder(const step_marks *m, size_t *overlaps, size_t *backwards)
{
    for (size_t i = 1, longest = 0; i < m->n; i++) {
        const step_mark *x = &m->v[i], *last = &m->v[i - 1], *open = &m->v[longest];
        *overlaps += open->end - x->start > (open->end - open->start) / 100;
        *backwards += x->number >= 0 && last->number > x->number;
        longest = x->end > open->end ? i : longest;
    }
}

/* Notes disorder among steps that the program or the device marks. Repeats of a module have no
 * marks. */
static int note_disorder(host_result *h, const step_search *s)
{
    char text[160];
    size_t overlaps = 0, backwards = 0;
    if (s->source == VP_STEPS_MODULES)
        return 0;
    count_disorder(&s->host, &overlaps, &backwards);
    for (size_t d = 0; s->device && d < s->device_count; d++)
        count_disorder(&s->device[d], &overlaps, &backwards);
    if (overlaps) {
        snprintf(text, sizeof text,
                 "%zu step%s before the previous step ends; only the part after that end counts",
                 overlaps, overlaps == 1 ? " begins" : "s begin");
        VP_TRY(host_note(h, "steps-overlap", VP_SEV_WARNING, text));
    }
    if (!backwards || s->source != VP_STEPS_PROFILER) /* annotations may restart in every loop,
                                                         so only the profiler's count */
        return 0;
    snprintf(text, sizeof text,
             "%zu step%s a lower number than the previous step; steps are listed by time",
             backwards, backwards == 1 ? " has" : "s have");
    return host_note(h, "steps-order", VP_SEV_WARNING, text);
}

int step_marks_note(host_result *h, const step_search *s)
{
    VP_TRY(note_steps_left_out(h, s));
    return note_disorder(h, s);
}

int steps_note(host_result *h)
{
    char text[300];
    if (h->steps_by && !h->steps.count) {
        snprintf(text, sizeof text,
                 "--steps-by: no event of a host thread is named \"%.100s\", so there are no steps",
                 h->steps_by);
        return host_note(h, "steps-by", VP_SEV_WARNING, text);
    }
    double share = result_steps_share(&h->steps, h->devices, h->device_count);
    if (!h->has_devices || h->steps.counted <= 0 || share >= STEPS_APART)
        return 0;
    snprintf(text, sizeof text,
             "the steps cover only %.2f%% of device busy time: they end before their device work, "
             "so their durations measure dispatch; wait for the result inside the step",
             100 * share);
    return host_note(h, "steps-apart", VP_SEV_WARNING, text);
}
