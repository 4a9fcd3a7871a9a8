/* Ops of XLA:CPU, whose ends are separate events. */
#include <stdio.h>

#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/xspace/xs_read.h"

/* A device of XLA:CPU is known only by the ordinal in its events
 * (docs/reference/jax-cpu.md#planes-and-threads). */
static int device_track(xs_line_ctx *c, int64_t ordinal, uint32_t *track)
{
    xs_reader *r = c->r;
    uint64_t key = vp_mix((uint64_t)ordinal + 1) ^ c->plane_index;
    *track = vp_map_get(&r->cpu_tracks, key);
    if (*track != VP_MAP_NONE)
        return 0;
    char name[300];
    int n = snprintf(name, sizeof name, "%.*s:%lld", (int)vp_str_head(c->plane->name, 255).n,
                     c->plane->name.p, (long long)ordinal);
    sink_process p = {.name = {name, (size_t)n},
                      .id = ordinal,
                      .kind = SINK_PROCESS_CPU,
                      .ordinal = (int32_t)(ordinal & 0x7fffffff)};
    sink_track t = {.name = VP_STR("ops"), .role = SINK_ROLE_OPS, .one_timeline = true};
    VP_TRY(r->out->process(r->out, &p, &t.process));
    VP_TRY(r->out->track(r->out, &t, track));
    return vp_map_set(&r->cpu_tracks, key, *track);
}

int xs_cpu_add(xs_line_ctx *c, const xs_cpu_op *ops, size_t n)
{
    xs_reader *r = c->r;
    uint32_t device = 0;
    VP_TRY(vp_grow(&r->cpu_ops, &r->cpu_op_cap, r->cpu_op_count + n, sizeof *ops, VP_EVENTS_MAX));
    for (size_t i = 0; i < n; i++) {
        if (!i || ops[i].ordinal != ops[i - 1].ordinal)
            VP_TRY(device_track(c, ops[i].ordinal, &device));
        r->cpu_ops[r->cpu_op_count] = ops[i];
        r->cpu_ops[r->cpu_op_count++].device = device;
    }
    return 0;
}

int xs_cpu_add_ends(xs_reader *r, const xs_cpu_end *ends, size_t n)
{
    VP_TRY(
        vp_grow(&r->cpu_ends, &r->cpu_end_cap, r->cpu_end_count + n, sizeof *ends, VP_EVENTS_MAX));
    memcpy(r->cpu_ends + r->cpu_end_count, ends, n * sizeof *ends);
    r->cpu_end_count += n;
    return 0;
}

/* Indexes the end events. The last one with a key is used, because a later event with the same ids
 * replaces the earlier one. */
static int index_ends(const xs_reader *r, vp_map *by_key)
{
    for (size_t i = 0; i < r->cpu_end_count; i++)
        VP_TRY(vp_map_set(by_key, r->cpu_ends[i].key, (uint32_t)i));
    return 0;
}

int xs_cpu_finish(xs_reader *r)
{
    vp_map by_key;
    vp_map_init(&by_key);
    int rc = index_ends(r, &by_key);
    for (size_t i = 0; rc == 0 && i < r->cpu_op_count; i++) {
        const xs_cpu_op *op = &r->cpu_ops[i];
        uint32_t e = op->key ? vp_map_get(&by_key, op->key) : VP_MAP_NONE;
        int64_t end = op->end_ps;
        if (e != VP_MAP_NONE && r->cpu_ends[e].end_ps > end)
            end = r->cpu_ends[e].end_ps;
        sink_event out = {op->start_ps, end - op->start_ps, SINK_NO_TIME, 0,
                          op->device,   op->kind,           NULL};
        sink_extra x = {.has = 1u << SINK_RUN, .v[SINK_RUN] = op->run};
        if (op->run != SINK_NO_VALUE)
            out.extra = &x;
        rc = xs_emit(r, &out);
    }
    vp_map_free(&by_key);
    return rc;
}
