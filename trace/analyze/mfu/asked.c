#include "trace/analyze/mfu/asked.h"

#include "trace/analyze/result/look_up.h"

/* The mean of the device's windows in complete steps; its whole window without such steps. */
static int64_t mean_step_time(const vp_report *r, uint32_t device)
{
    int64_t sum = 0, n = 0;
    for (size_t i = 0; i < r->steps.count; i++) {
        const vp_step *s = &r->steps.list[i];
        const vp_step_device *d = result_step_device(s, device);
        if (d && vp_step_counts(s)) {
            sum += d->dur_ps;
            n++;
        }
    }
    return n ? sum / n : r->devices[device].breakdown.window_ps;
}

void mfu_ask(vp_report *r, double params, double tokens)
{
    double each = 0;
    for (size_t i = 0; i < r->device_count; i++)
        each += r->devices[i].breakdown.compute_ps > 0;
    each = each > 0 ? 6 * params * tokens / each : 0;
    for (size_t i = 0; r->has_devices && i < r->device_count; i++) {
        vp_device *d = &r->devices[i];
        if (!(each >= 1) || d->breakdown.compute_ps <= 0)
            continue;
        d->mfu.asked_flops = each < 9e18 ? (int64_t)each : INT64_MAX;
        d->mfu.asked_window_ps = mean_step_time(r, (uint32_t)i);
    }
}
