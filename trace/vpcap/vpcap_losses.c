/* Describes what a recording lost, in sentences that its XSpace carries as warnings. */
#include "trace/vpcap/vpcap_xspace.h"

#include <stdio.h>

#include "trace/base/buf.h"
#include "trace/base/err.h"

/* XProf shows warnings unchanged; readers look for the word "dropped". */
static int report_loss(uint64_t n, const char *what, vx_say_fn *fn, void *ctx)
{
    char text[200];
    if (!n)
        return 0;
    int len = snprintf(text, sizeof text, "%llu %s", (unsigned long long)n, what);
    return fn(ctx, (vp_str){text, (size_t)len});
}

#define OPEN_NAMED 6u

/* Names of open zones, as many as fit: readers show a few hundred bytes of a warning. */
typedef struct open_names {
    const vpcap *v;
    vp_buf *b;
    unsigned told;
} open_names;

static void put_open(void *ctx, uint32_t thread, const vpcap_event *e)
{
    open_names *o = ctx;
    vp_str name = vp_str_head(vpcap_name_at(o->v, e->name).name, 48);
    vp_str of = vp_str_head(vpcap_thread_at(o->v, thread).name, 24);
    long long us = (long long)(e->dur_ps / 1000000), ns = (long long)(e->dur_ps / 1000);
    if (o->told++ >= OPEN_NAMED)
        return;
    vp_buf_puts(o->b, o->told == 1 ? ": " : ", ");
    vp_buf_str(o->b, name);
    if (e->kind == VPCAP_STEP)
        vp_buf_printf(o->b, " %lld", (long long)e->number);
    if (us)
        vp_buf_printf(o->b, " for %lld.%03lld ms", us / 1000, us % 1000);
    else
        vp_buf_printf(o->b, " for %lld ns", ns);
    vp_buf_printf(o->b, " (thread %.*s)", VP_STR_ARG(of));
}

/* Reports the number of open zones after `before`, and the names of the first of them. */
static int say_open(const vpcap *v, const char *before, const char *const behind[2], vx_say_fn *fn,
                    void *ctx)
{
    VP_CLEANUP(vp_buf_free) vp_buf b, names;
    open_names o = {.v = v, .b = &names};
    vp_buf_init(&b, SIZE_MAX / 4);
    vp_buf_init(&names, SIZE_MAX / 4);
    uint64_t open = vpcap_open_zones(v, put_open, &o);
    vp_buf_printf(&b, "%s%llu zone%s had not ended, and %s", before, (unsigned long long)open,
                  open == 1 ? "" : "s", behind[open != 1]);
    vp_buf_str(&b, vp_buf_view(&names));
    if (o.told > OPEN_NAMED)
        vp_buf_printf(&b, " and %u more", o.told - OPEN_NAMED);
    VP_TRY(b.status);
    return fn(ctx, vp_buf_view(&b));
}

static int say_cut_off(const vpcap *v, vx_say_fn *fn, void *ctx)
{
    static const char *const behind[2] = {"ends with it", "end with it"};
    return say_open(
        v, VX_CUT_OFF " in the middle, by exit, its time limit or a full pool: ", behind, fn, ctx);
}

static int say_unfinished(const vpcap *v, vx_say_fn *fn, void *ctx)
{
    static const char *const behind[2] = {"ends here with the recording",
                                          "end here with the recording"};
    VP_TRY(fn(ctx, VP_STR(VX_UNFINISHED
                          ": the program was killed, is still running, or ran out of disk space")));
    return vpcap_open_zones(v, NULL, NULL) ? say_open(v, VX_OPEN, behind, fn, ctx) : 0;
}

/* A ring that has overwritten old zones works as intended; this is not damage. */
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

/* Counts only zones dropped before the end; what followed is unknown. */
static int say_full(const vpcap_info *info, uint64_t n, vx_say_fn *fn, void *ctx)
{
    char text[300];
    long long ms = info->end_ps / 1000000000, later = info->later_ns / 1000000;
    int at = snprintf(text, sizeof text,
                      "the recording stopped after %lld.%03lld s because its buffer was full; %llu "
                      "zone%s dropped; ",
                      ms / 1000, ms % 1000, (unsigned long long)n, n == 1 ? " was" : "s were");
    if (info->later_ns)
        at += snprintf(text + at, sizeof text - (size_t)at, "the last %lld.%03lld s are missing; ",
                       later / 1000, later % 1000);
    at += snprintf(text + at, sizeof text - (size_t)at,
                   "use --ring (VP_RING) to keep the newest events, or a larger buffer");
    return fn(ctx, (vp_str){text, (size_t)at});
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
    if (!info->finished)
        VP_TRY(say_unfinished(v, fn, ctx));
    else if (info->truncated)
        VP_TRY(say_cut_off(v, fn, ctx));
    VP_TRY(say_ring(info, sum.overwritten, fn, ctx));
    if (info->full)
        VP_TRY(say_full(info, sum.dropped_full, fn, ctx));
    else
        VP_TRY(report_loss(sum.dropped_full, "zones were dropped: the recording buffer was full",
                           fn, ctx));
    VP_TRY(report_loss(
        sum.dropped_signal,
        "zones of signal handlers were dropped: they interrupted the writing of a record", fn,
        ctx));
    VP_TRY(
        report_loss(sum.dropped_depth, "zones were dropped: they were nested too deep", fn, ctx));
    VP_TRY(report_loss(
        sum.left, "zones have no end: they were left by a jump, or their thread ended", fn, ctx));
    return report_loss(sum.unmatched_ends, "calls of VP_END without VP_BEGIN", fn, ctx);
}
