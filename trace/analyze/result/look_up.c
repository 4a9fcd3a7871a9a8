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
