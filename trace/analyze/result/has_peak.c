#include "trace/analyze/result/has_peak.h"

bool result_has_peak(const vp_report *r)
{
    for (size_t i = 0; i < r->device_count; i++)
        if (r->devices[i].mfu.peak_gflops > 0)
            return true;
    return false;
}
