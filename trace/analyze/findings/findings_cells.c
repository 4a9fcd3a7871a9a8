/* The cells of a window for activities of host threads. */
#include "trace/analyze/findings/findings_run.h"

#include <string.h>

unsigned fnd_activity_cell(vp_activity_kind kind)
{
    static const unsigned cells[VP_ACTIVITY_KINDS] = {
        [VP_ACTIVITY_COMPILE] = FND_IDLE + VP_CAUSE_COMPILE,
        [VP_ACTIVITY_INPUT] = FND_IDLE + VP_CAUSE_INPUT,
        [VP_ACTIVITY_GC] = FND_GC,
        [VP_ACTIVITY_WRITE] = FND_WRITE,
        [VP_ACTIVITY_CALLBACK] = FND_IDLE + VP_CAUSE_CALLBACK,
    };
    return cells[kind];
}

bool fnd_concerns_device(const fnd_run *run, const vp_activity *x, uint32_t device)
{
    const vp_report *r = run->r;
    if (!r->has_devices)
        return x->device == device;
    return fnd_host_of(run, x->host) == fnd_host_of(run, r->devices[device].host);
}

int64_t fnd_activity_ps(const fnd_run *run, uint32_t device, vp_activity_kind kind)
{
    int64_t sum = 0;
    for (size_t i = 0; i < run->r->activity_count; i++) {
        const vp_activity *x = &run->r->activities[i];
        int64_t ps = run->r->has_devices ? x->idle_ps : x->total_ps;
        if (x->kind == kind && ps > 0 && fnd_concerns_device(run, x, device))
            sum += ps;
    }
    return sum;
}
