#include "trace/analyze/host/launch.h"

#include <stdio.h>

#include "trace/analyze/device/ops.h"
#include "trace/analyze/host/calls.h"
#include "trace/analyze/host/host_kinds.h"
#include "trace/analyze/result/order_statistics.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

#define SHORT_PS (LAUNCH_SHORT_US * INT64_C(1000000))
/* 100 us: an op that begins later after its call is late (docs/reference/metrics.md#launches) */
#define LATE_PS INT64_C(100000000)

/* The launches of one device, as columns with an entry for each op with a known call. */
typedef struct launches {
    const analysis *a;
    track_set set;
    size_t n;                  /* linked ops */
    int64_t *call;             /* which call */
    int64_t *launched, *begun; /* start of the call, start of the op */
    int64_t *delay;
    size_t early; /* ops that begin before the call that launched them */
} launches;

static void launches_free(launches *l)
{
    vp_free(l->call);
    vp_free(l->launched);
    vp_free(l->begun);
    vp_free(l->delay);
}

static int launches_alloc(launches *l, size_t ops)
{
    l->call = vp_realloc_array(NULL, ops + 1, sizeof *l->call);
    l->launched = vp_realloc_array(NULL, ops + 1, sizeof *l->launched);
    l->begun = vp_realloc_array(NULL, ops + 1, sizeof *l->begun);
    l->delay = vp_realloc_array(NULL, ops + 1, sizeof *l->delay);
    return l->call && l->launched && l->begun && l->delay ? 0 : vp_no_memory();
}

static int64_t percentile_or_unknown(int64_t *v, size_t n, unsigned percent)
{
    return n ? select_kth(v, n, nearest_rank(n, percent)) : VP_UNKNOWN;
}

/* Fills the columns. delay = max(0, start of the op − end of its call)
 * (docs/reference/metrics.md#launches). false: no op of the device has a correlation, so nothing
 * can be linked. */
static bool link_ops(launches *l, vp_launch *out)
{
    bool correlated = false;
    for (size_t i = 0; i < l->set.count; i++) {
        const trace_track *k = &l->set.t->tracks[l->set.tracks[i]];
        correlated = correlated || k->attr[SINK_CORRELATION];
        for (size_t e = 0; e < k->count; e++) {
            uint32_t call = calls_find(l->a->calls, k, e);
            if (call == UINT32_MAX) {
                out->unlinked_ops++;
                continue;
            }
            int64_t delay = trace_start(k, e) - call_end(l->a->calls, l->a->t, call);
            l->call[l->n] = call;
            l->launched[l->n] = call_start(l->a->calls, l->a->t, call);
            l->begun[l->n] = trace_start(k, e);
            l->early += l->begun[l->n] < l->launched[l->n];
            l->delay[l->n++] = delay > 0 ? delay : 0;
            out->late_launches += delay > LATE_PS;
        }
    }
    out->linked_ops = (int64_t)l->n;
    return correlated;
}

/* Queue depth (docs/reference/metrics.md#launches, as HTA counts it): right after each launch, how
 * many ops were launched and have not started. */
static int count_queue_depth(launches *l, vp_launch *out)
{
    __int128 sum = 0;
    size_t begun = 0;
    VP_TRY(sort_runs(l->launched, l->n));
    VP_TRY(sort_runs(l->begun, l->n));
    for (size_t i = 0; i < l->n; i++) {
        while (begun < l->n && l->begun[begun] <= l->launched[i])
            begun++;
        int64_t depth = begun <= i ? (int64_t)(i + 1 - begun) : 0;
        out->queue_max = depth > out->queue_max ? depth : out->queue_max;
        sum += depth;
    }
    out->queue_mean_milli = l->n ? (int64_t)(sum * 1000 / (__int128)l->n) : VP_UNKNOWN;
    out->queue_max = l->n ? out->queue_max : VP_UNKNOWN;
    return 0;
}

/* Counts each call once: one call may launch many ops (a recorded graph). */
static int distinct_calls(launches *l, vp_launch *out)
{
    int64_t *duration = l->begun; /* no longer needed */
    size_t n = 0;
    VP_TRY(sort_runs(l->call, l->n));
    for (size_t i = 0; i < l->n; i++) {
        if (i && l->call[i] == l->call[i - 1])
            continue;
        const host_call *c = &l->a->calls->call[l->call[i]];
        const trace_track *k = &l->a->t->tracks[c->track];
        duration[n++] = trace_dur(k, c->index);
        out->graph_launches +=
            (host_kind_flags(l->a->kinds, trace_kind_of(k, c->index)) & HK_GRAPH) != 0;
    }
    out->calls = (int64_t)n;
    out->call_p50_ps = percentile_or_unknown(duration, n, 50);
    out->call_p95_ps = percentile_or_unknown(duration, n, 95);
    return 0;
}

static void set_launch_unknown(vp_launch *out)
{
    out->calls = out->linked_ops = out->unlinked_ops = VP_UNKNOWN;
    out->call_p50_ps = out->call_p95_ps = out->delay_p50_ps = out->delay_p95_ps = VP_UNKNOWN;
    out->late_launches = out->queue_max = out->queue_mean_milli = VP_UNKNOWN;
    out->graph_launches = out->starved_call_ps = out->starved_latency_ps = VP_UNKNOWN;
}

static int launches_of(vp_launch *out, launches *l, size_t ops)
{
    VP_TRY(launches_alloc(l, ops));
    if (!link_ops(l, out)) {
        set_launch_unknown(out);
        return 0;
    }
    out->delay_p50_ps = percentile_or_unknown(l->delay, l->n, 50);
    out->delay_p95_ps = percentile_or_unknown(l->delay, l->n, 95);
    VP_TRY(count_queue_depth(l, out));
    return distinct_calls(l, out);
}

static int kernels_of(vp_launch *out, const analysis *a, track_set set, size_t ops)
{
    const uint8_t *class_of = grouping_classes(a->g);
    VP_CLEANUP(vp_free_ptr) int64_t *duration = vp_realloc_array(NULL, ops + 1, sizeof *duration);
    size_t n = 0;
    VP_NEED(duration);
    for (size_t i = 0; i < set.count; i++) {
        const trace_track *k = &a->t->tracks[set.tracks[i]];
        for (size_t e = 0; e < k->count; e++) {
            if (class_of[trace_kind_of(k, e)] != VP_COMPUTE)
                continue;
            duration[n++] = trace_dur(k, e);
            out->short_kernels += trace_dur(k, e) < SHORT_PS;
            out->short_ps += trace_dur(k, e) < SHORT_PS ? trace_dur(k, e) : 0;
        }
    }
    out->kernels = (int64_t)n;
    out->kernel_p50_ps = percentile_or_unknown(duration, n, 50);
    return 0;
}

/* No op runs before it is launched. If more than 1% of them seem to, the clocks of host and device
 * disagree (jax #23426), and causes of idle time are uncertain. */
static int note_clocks(host_result *h, const launches *l, const vp_device *d)
{
    char text[200];
    if (l->early * 100 <= l->n)
        return 0;
    snprintf(text, sizeof text,
             "%zu of %zu ops of %.40s begin before the call that launches them: host and device "
             "clocks disagree, so causes of idle time are uncertain",
             l->early, l->n, d->name);
    return host_note(h, "clock-skew", VP_SEV_WARNING, text);
}

/* Without a device its threads replace it, and nothing is launched on threads. */
static int nothing_launched(analysis *a)
{
    for (size_t d = 0; d < a->device_count; d++) {
        vp_launch *l = &a->h->devices[d].launch;
        set_launch_unknown(l);
        l->kernels = l->kernel_p50_ps = l->short_kernels = l->short_ps = VP_UNKNOWN;
    }
    return 0;
}

int launch_collect(analysis *a)
{
    if (!a->h->has_devices)
        return nothing_launched(a);
    for (size_t d = 0; d < a->device_count; d++) {
        vp_device *dev = &a->h->devices[d];
        launches l = {.a = a, .set = a->devices[d].set};
        size_t ops = (size_t)dev->events;
        dev->launch = (vp_launch){0};
        int rc = kernels_of(&dev->launch, a, l.set, ops);
        if (rc >= 0)
            rc = launches_of(&dev->launch, &l, ops);
        if (rc >= 0)
            rc = note_clocks(a->h, &l, dev);
        launches_free(&l);
        VP_TRY(rc);
    }
    return 0;
}
