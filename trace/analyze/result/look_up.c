#include "trace/analyze/result/look_up.h"

bool result_has_peak(const vp_report *r)
{
    for (size_t i = 0; i < r->device_count; i++)
        if (r->devices[i].mfu.peak_gflops > 0)
            return true;
    return false;
}

vp_step_device *result_step_device(const vp_step *s, uint32_t device)
{
    for (size_t i = 0; i < s->device_count; i++)
        if (s->devices[i].device == device)
            return &s->devices[i];
    return NULL;
}

double result_steps_share(const vp_steps *s, const vp_device *devices, size_t n)
{
    double busy = 0;
    for (size_t i = 0; i < n; i++)
        busy += devices[i].breakdown.busy_ps > 0 ? (double)devices[i].breakdown.busy_ps : 0;
    return busy > 0 ? (double)s->median_ps * (double)s->counted * (double)n / busy : 1;
}
