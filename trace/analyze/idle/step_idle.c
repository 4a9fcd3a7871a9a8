#include "trace/analyze/idle/step_idle.h"

step_idle step_idle_of(const analysis *a, uint32_t device)
{
    return (step_idle){a->windows ? &a->windows[device] : NULL, &a->h->steps, 0};
}

bool step_idle_extent(const step_idle *s, int64_t *start, int64_t *end)
{
    if (!s->windows || !s->windows->count)
        return false;
    *start = s->windows->start_ps[0];
    *end = s->windows->end_ps[s->windows->count - 1];
    return true;
}

static vp_step_device *step_of(const step_idle *s, size_t window)
{
    return &s->steps->list[s->windows->step[window]].devices[s->windows->entry[window]];
}

void step_idle_add(step_idle *s, const idle_piece *p)
{
    const step_windows *w = s->windows;
    while (w && s->at < w->count && w->end_ps[s->at] <= p->start)
        s->at++;
    for (size_t i = s->at; w && i < w->count && w->start_ps[i] < p->end; i++) {
        int64_t start = p->start > w->start_ps[i] ? p->start : w->start_ps[i];
        int64_t end = p->end < w->end_ps[i] ? p->end : w->end_ps[i];
        step_of(s, i)->cause_ps[p->cause] += end > start ? end - start : 0;
    }
}

void step_idle_close(step_idle *s)
{
    for (size_t i = 0; s->windows && i < s->windows->count; i++) {
        vp_step_device *d = step_of(s, i);
        int64_t explained = 0;
        for (int c = 0; c < VP_CAUSES; c++)
            explained += d->cause_ps[c];
        d->cause_ps[VP_CAUSE_UNKNOWN] += d->breakdown.idle_ps - explained;
    }
}
