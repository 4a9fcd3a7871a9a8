#include "trace/base/vpcap_xspace.h"

#include <stdio.h>

#include "trace/base/err.h"

/* XProf shows warnings as they stand; "dropped" is what readers look for. */
static int say(uint64_t n, const char *what, vx_say_fn *fn, void *ctx)
{
    char text[200];
    if (!n)
        return 0;
    int len = snprintf(text, sizeof text, "%llu %s", (unsigned long long)n, what);
    return fn(ctx, (vp_str){text, (size_t)len});
}

/* An unfinished one is a matter of its own, of which its reader tells. */
static int say_cut_off(const vpcap *v, vx_say_fn *fn, void *ctx)
{
    char text[200];
    uint64_t open = vpcap_open_zones(v);
    int len = snprintf(text, sizeof text,
                       VX_CUT_OFF " in the middle, by exit, its time limit or a full pool: %llu "
                                  "zone%s had not ended, and end%s with it",
                       (unsigned long long)open, open == 1 ? "" : "s", open == 1 ? "s" : "");
    return fn(ctx, (vp_str){text, (size_t)len});
}

/* That is what a ring is for, and no damage. */
static int say_ring(const vpcap_info *info, uint64_t n, vx_say_fn *fn, void *ctx)
{
    char text[200];
    int64_t us = (info->end_ps - info->begin_ps) / 1000000;
    if (!n)
        return 0;
    int len = snprintf(text, sizeof text,
                       VX_RING "%lld.%06lld s: %llu earlier zone%s made room for newer ones",
                       (long long)(us / 1000000), (long long)(us % 1000000), (unsigned long long)n,
                       n == 1 ? "" : "s");
    return fn(ctx, (vp_str){text, (size_t)len});
}

int vx_losses(const vpcap *v, vx_say_fn *fn, void *ctx)
{
    const vpcap_info *info = vpcap_info_of(v);
    vpcap_thread sum = {0};
    for (uint32_t i = 0; i < vpcap_threads(v); i++) {
        vpcap_thread t = vpcap_thread_at(v, i);
        sum.dropped_full += t.dropped_full;
        sum.dropped_signal += t.dropped_signal;
        sum.dropped_depth += t.dropped_depth;
        sum.unmatched_ends += t.unmatched_ends;
        sum.left += t.left;
        sum.overwritten += t.overwritten;
    }
    if (info->finished && info->truncated)
        VP_TRY(say_cut_off(v, fn, ctx));
    VP_TRY(say_ring(info, sum.overwritten, fn, ctx));
    VP_TRY(say(sum.dropped_full, "zones were dropped: the recording's pool was full", fn, ctx));
    VP_TRY(say(sum.dropped_signal,
               "zones of signal handlers were dropped: they came in the middle of a record", fn,
               ctx));
    VP_TRY(say(sum.dropped_depth, "zones were dropped: they were nested too deep", fn, ctx));
    VP_TRY(say(sum.left, "zones have no end: a jump left them, or their thread ended", fn, ctx));
    return say(sum.unmatched_ends, "times VP_END had no VP_BEGIN", fn, ctx);
}
