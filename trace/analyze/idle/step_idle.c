#include "trace/analyze/idle/step_idle.h"

#include <string.h>

#include "trace/base/err.h"

step_idle step_idle_of(const analysis *a, uint32_t device)
{
    return (step_idle){.windows = a->windows ? &a->windows[device] : NULL};
}

void step_idle_open(step_idle *s, const packed_steps *packed, uint32_t device)
{
    if (!s->windows)
        return;
    s->breakdown = packed_steps_read(packed, device, STEP_BREAKDOWN);
    packed_steps_begin(&s->causes, STEP_CAUSES);
}

bool step_idle_extent(const step_idle *s, int64_t *start, int64_t *end)
{
    if (!s->windows || !s->windows->count)
        return false;
    *start = s->windows->start_ps[0];
    *end = s->windows->end_ps[s->windows->count - 1];
    return true;
}

static int step_idle_close_window(step_idle *s)
{
    vp_breakdown breakdown;
    int64_t explained = 0;
    packed_steps_next(&s->breakdown, (int64_t *)&breakdown);
    for (int c = 0; c < VP_CAUSES; c++)
        explained += s->cause_ps[c];
    s->cause_ps[VP_CAUSE_UNKNOWN] += breakdown.idle_ps - explained;
    s->at++;
    VP_TRY(packed_steps_put(&s->causes, s->cause_ps));
    memset(s->cause_ps, 0, sizeof s->cause_ps);
    return 0;
}

int step_idle_add(step_idle *s, const idle_piece *p)
{
    const step_windows *w = s->windows;
    while (w && s->at < w->count && w->start_ps[s->at] < p->end) {
        int64_t start = p->start > w->start_ps[s->at] ? p->start : w->start_ps[s->at];
        int64_t end = p->end < w->end_ps[s->at] ? p->end : w->end_ps[s->at];
        s->cause_ps[p->cause] += end > start ? end - start : 0;
        if (w->end_ps[s->at] > p->end)
            break;
        VP_TRY(step_idle_close_window(s));
    }
    return 0;
}

int step_idle_close(step_idle *s, packed_steps *packed, uint32_t device, int rc)
{
    if (!s->windows)
        return rc;
    while (rc >= 0 && s->at < s->windows->count)
        rc = step_idle_close_window(s);
    return packed_steps_end(&s->causes, packed, device, rc);
}
