/* Maps planes and lines to processes and tracks of the sink. */
#include "trace/read/semantics/roles.h"
#include "trace/read/xspace/xs_read.h"

int xs_open_track(const xs_line_ctx *c, vp_str name, int64_t id, sink_role role, uint32_t *track)
{
    xs_reader *r = c->r;
    uint64_t key = vp_hash(name.p, name.n, vp_mix((uint64_t)id) + c->process);
    *track = vp_map_get(&r->tracks, key);
    if (*track != VP_MAP_NONE)
        return 0;
    sink_track t = {.process = c->process, .name = name, .id = id, .role = role};
    VP_TRY(r->out->track(r->out, &t, track));
    return vp_map_set(&r->tracks, key, *track);
}

/* Fields of CoreDetails (xprof's op_stats.proto), which omits fields that are 0. */
enum { COREDETAILS_GLOBAL_CHIP_ID = 5, COREDETAILS_GLOBAL_CORE_ID = 6 };

/* The device of the mesh that a plane represents. Programs number devices like cores if a chip has
 * one core; if it has two, the device is unknown. */
static void read_core(sink_process *p, const xs_value *details)
{
    uint64_t chip = 0, core = 0;
    vp_pb r = vp_pb_of(details->text);
    vp_pb_field f;
    while (vp_pb_next(&r, &f) > 0) {
        if (f.number == COREDETAILS_GLOBAL_CHIP_ID && f.wire == VP_PB_VARINT)
            chip = f.u;
        else if (f.number == COREDETAILS_GLOBAL_CORE_ID && f.wire == VP_PB_VARINT)
            core = f.u;
    }
    p->has_device_id =
        details->wire && p->kind == SINK_PROCESS_TPU && chip == core && core <= INT32_MAX;
    p->device_id = p->has_device_id ? (int64_t)core : SINK_UNKNOWN;
}

/* 0 if absent, unknown or negative. */
static int64_t stat_figure(const xs_plane *pl, xs_stat_role role, int64_t factor)
{
    int64_t v = xs_value_times(&pl->stats[role], factor);
    return v > 0 ? v : 0;
}

static sink_chip chip_of(const xs_plane *pl)
{
    sink_chip c = {.gflops = stat_figure(pl, XS_STAT_PEAK, 1000),
                   .mb_s = stat_figure(pl, XS_STAT_HBM, 1000),
                   .cores = stat_figure(pl, XS_STAT_CORES, 1),
                   .khz = stat_figure(pl, XS_STAT_CLOCK, 1),
                   .memory_bytes = stat_figure(pl, XS_STAT_MEMORY, 1),
                   .major = stat_figure(pl, XS_STAT_CC_MAJOR, 1),
                   .minor = stat_figure(pl, XS_STAT_CC_MINOR, 1)};
    if (!c.mb_s)
        c.mb_s = stat_figure(pl, XS_STAT_BANDWIDTH, 1) / 1000000;
    return c;
}

int xs_open_process(xs_reader *r, const xs_plane *pl, uint32_t *process)
{
    uint64_t key = vp_hash(pl->name.p, pl->name.n, 11);
    *process = vp_map_get(&r->processes, key);
    if (*process != VP_MAP_NONE)
        return 0;
    vp_str gpu = pl->stats[XS_STAT_GPU_MODEL].text, tpu = pl->stats[XS_STAT_TPU_MODEL].text;
    sink_process p = {
        .name = pl->name, .model = gpu.n ? gpu : tpu, .id = pl->id, .chip = chip_of(pl)};
    p.kind = rd_process_kind(pl->name, &p.ordinal);
    read_core(&p, &pl->stats[XS_STAT_CORE_DETAILS]);
    VP_TRY(r->out->process(r->out, &p, process));
    return vp_map_set(&r->processes, key, *process);
}
