#include "trace/analyze/balance.h"

int balance_make(vp_report *r)
{
    r->balance = (vp_balance){.devices = r->device_count,
                              .max_ps = VP_UNKNOWN,
                              .mean_ps = VP_UNKNOWN,
                              .min_ps = VP_UNKNOWN,
                              .busiest = VP_NO_DEVICE,
                              .idlest = VP_NO_DEVICE,
                              .wait_ps = VP_UNKNOWN,
                              .straggler = VP_NO_DEVICE};
    return 0;
}
