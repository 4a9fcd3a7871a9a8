/* Work outside of the calling thread: ops, transfers and collectives on tracks, timed by the
 * recording's clock or by their device's; and correlations with the zones that launched it. */
#include <stdio.h>

#include "include/view_profile_capture.h"
#include "trace/base/err.h"
#include "trace/capture/pool/clock.h"
#include "trace/capture/pool/device_clock.h"
#include "trace/capture/pool/recorder.h"
#include "trace/capture/pool/tables.h"
#include "trace/capture/threads/emit.h"
#include "trace/capture/threads/recording_thread.h"
#include "trace/vpcap/vpcap.h"

#define VP__KIND_SITE(text)                                                                        \
    {                                                                                              \
        text, NULL, NULL, NULL, 0, VP__ZONE, VP_LEVEL_USER, 0                                      \
    }

static uint64_t flows;
static uint32_t correlations;

uint64_t vp_now(void)
{
    return clock_ticks();
}

uint64_t vp_flow_new(void)
{
    return __atomic_add_fetch(&flows, 1, __ATOMIC_RELAXED);
}

uint32_t vp_correlation_push(void)
{
    vp__thread *t = cap_me();
    uint32_t number = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
    if (!t)
        return number;
    if (t->correlation_depth < CAP_CORRELATIONS) {
        cap_correlations(t)[t->correlation_depth] = t->correlation;
        t->correlation = number;
    }
    t->correlation_depth++;
    return number;
}

void vp_correlation_pop(void)
{
    vp__thread *t = cap_me();
    if (!t || !t->correlation_depth)
        return;
    if (--t->correlation_depth < CAP_CORRELATIONS)
        t->correlation = cap_correlations(t)[t->correlation_depth];
}

static int put_track_span(const cap_event *e)
{
    cap_event placed = *e;
    uint32_t generation = vp__generation();
    uint32_t clock = cap_tables_clock(e->track);
    if (clock == VPCAP_NONE)
        return vp_fail(VP_EARG, "a span needs a track from vp_track_add");
    if (e->end < e->start)
        return vp_fail(VP_EARG, "a span ends before it starts");
    if (!generation)
        return 0;
    if (clock)
        VP_TRY(device_clock_place(clock, &placed.start, &placed.end));
    if (!cap_emit(generation, &placed))
        return vp_fail(VP_EFULL, "the recording is full");
    return 0;
}

int vp_record_span(vp_track_id t, uint32_t name, uint64_t start, uint64_t end, uint32_t correlation,
                   const vp_arg *args, size_t n)
{
    vp__site *keys[CAP_ARGS_MAX], *site = cap_known_site(name);
    if (!site)
        return vp_fail(VP_EARG, "a span needs a name from vp_name");
    if (n > CAP_ARGS_MAX || (n && !args))
        return vp_fail(VP_EARG, "a span has at most %u args", CAP_ARGS_MAX);
    if (cap_keys_of(keys, args, n) < n)
        return vp_fail(VP_ELIMIT, "too many names");
    return put_track_span(&(cap_event){.site = site,
                                       .kind = VP__SPAN,
                                       .start = start,
                                       .end = end,
                                       .correlation = correlation,
                                       .track = t,
                                       .args = args,
                                       .arg_count = (uint32_t)n,
                                       .keys = keys});
}

int vp_record_transfer(vp_track_id t, vp_copy_kind kind, uint64_t bytes, uint64_t start,
                       uint64_t end, int source, int destination, uint32_t correlation)
{
    static vp__site sites[] = {VP__KIND_SITE("MemcpyH2D"), VP__KIND_SITE("MemcpyD2H"),
                               VP__KIND_SITE("MemcpyD2D"), VP__KIND_SITE("MemcpyP2P"),
                               VP__KIND_SITE("MemcpyH2H")};
    if (kind < VP_COPY_H2D || kind > VP_COPY_H2H)
        return vp_fail(VP_EARG, "invalid kind of copy %d", (int)kind);
    /* In the form of XLA. Whether host memory is pageable is unknown here. */
    static const char *const memories[][2] = {[VP_COPY_H2D] = {"unknown", "device"},
                                              [VP_COPY_D2H] = {"device", "unknown"},
                                              [VP_COPY_D2D] = {"device", "device"},
                                              [VP_COPY_P2P] = {"device", "device"},
                                              [VP_COPY_H2H] = {"unknown", "unknown"}};
    char details[120];
    snprintf(details, sizeof details, "kind_src:%s kind_dst:%s size:%llu dest:%d async:1",
             memories[kind][0], memories[kind][1], (unsigned long long)bytes, destination);
    vp_arg args[] = {
        vp__arg_str("memcpy_details", details), vp__arg_i64("bytes_transferred", (int64_t)bytes),
        vp__arg_i64("source_device", source), vp__arg_i64("destination_device", destination)};
    return put_track_span(&(cap_event){.site = &sites[kind],
                                       .kind = VP__SPAN,
                                       .start = start,
                                       .end = end,
                                       .correlation = correlation,
                                       .track = t,
                                       .args = args,
                                       .arg_count = sizeof args / sizeof *args});
}

int vp_record_collective(vp_track_id t, vp_collective_kind kind, uint64_t bytes, uint64_t group,
                         int rank, int ranks, uint64_t start, uint64_t end, uint64_t id)
{
    static vp__site sites[] = {
        VP__KIND_SITE("all-reduce"),           VP__KIND_SITE("all-gather"),
        VP__KIND_SITE("reduce-scatter"),       VP__KIND_SITE("all-to-all"),
        VP__KIND_SITE("collective-broadcast"), VP__KIND_SITE("SendRecv send"),
        VP__KIND_SITE("SendRecv recv"),        VP__KIND_SITE("collective-permute")};
    if (kind < VP_ALL_REDUCE || kind > VP_PERMUTE)
        return vp_fail(VP_EARG, "invalid kind of collective %d", (int)kind);
    if (ranks < 1 || rank < 0 || rank >= ranks)
        return vp_fail(VP_EARG, "invalid rank %d of %d", rank, ranks);
    vp_arg args[] = {vp__arg_i64("bytes_accessed", (int64_t)bytes),
                     vp__arg_i64("group", (int64_t)group), vp__arg_i64("rank", rank),
                     vp__arg_i64("group_size", ranks),
                     vp__arg_i64("all_reduce_unique_id", (int64_t)id)};
    return put_track_span(&(cap_event){.site = &sites[kind],
                                       .kind = VP__SPAN,
                                       .start = start,
                                       .end = end,
                                       .track = t,
                                       .args = args,
                                       .arg_count = sizeof args / sizeof *args});
}
