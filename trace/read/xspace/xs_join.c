/* Passes decoded parts to the sink in file order. */
#include <stdio.h>

#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/semantics/attrs.h"
#include "trace/read/semantics/roles.h"
#include "trace/read/xspace/xs_part.h"

/* Places with missing zones that are reported individually. A warning of the file has their sum. */
#define LOST_SAID_MAX 16u

/* Events with an unknown metadata id are kept with an empty name. */
static int unknown_kind(xs_line_ctx *c, uint32_t *kind)
{
    uint64_t key = vp_mix(UINT64_MAX - c->plane_index);
    *kind = vp_map_get(&c->r->kinds, key);
    if (*kind != VP_MAP_NONE)
        return 0;
    sink_kind k = {.program_id = SINK_UNKNOWN,
                   .group_size = SINK_UNKNOWN,
                   .bytes = SINK_UNKNOWN,
                   .flops = SINK_UNKNOWN,
                   .is_op = c->role == SINK_ROLE_OPS};
    VP_TRY(c->r->out->kind(c->r->out, &k, kind));
    return vp_map_set(&c->r->kinds, key, *kind);
}

static vp_str part_event_bytes(const xs_part *p, size_t at, size_t n)
{
    return (vp_str){(const char *)p->bytes + at, n};
}

static int join_kind(xs_line_ctx *c, const xs_part *p, const xs_part_kind *k, uint32_t *kind)
{
    if (k->meta == SINK_NONE)
        return unknown_kind(c, kind);
    xs_meta *meta = &c->plane->meta[k->meta];
    return k->key ? xs_kind_of_event(c, meta, k->key, part_event_bytes(p, k->event, k->event_n),
                                     k->cpu_op, kind)
                  : xs_kind_of_meta(c, meta, kind);
}

/* Track for events of an allocator, named after it: their many attributes would otherwise become
 * columns of a whole thread. */
static int use_allocator(xs_line_ctx *c, const xs_meta *meta, xs_event_facts *e, uint32_t *track)
{
    vp_str name = e->allocator, event = VP_STR_NONE, display;
    uint32_t i = vp_map_get(&c->plane->stat_by_id, e->allocator_ref);
    if (!name.n && i != VP_MAP_NONE)
        name = c->plane->stat_names[i];
    if (meta)
        xs_meta_decode(c->plane, meta->bytes, &event, &display, NULL);
    rd_allocator_attrs(&e->x, event, name);
    sink_extra_set(&e->x, SINK_MEM_THREAD, c->track);
    return xs_open_track(c, name.n ? name : VP_STR("memory"), -1, c->role, track);
}

/* A mark of missing zones. It is not work of the thread, so it gets a separate track, and a quality
 * entry. */
static int use_lost(xs_line_ctx *c, uint64_t lost, int64_t start_ps, uint32_t *track)
{
    char text[400];
    int64_t us = start_ps / 1000000;
    vp_str thread = vp_str_head((vp_str){c->name, c->name_n}, 200);
    int n = snprintf(text, sizeof text,
                     "%llu zone%s of the thread %.*s %s dropped, from %lld.%03lld ms on: the "
                     "recording buffer was full",
                     (unsigned long long)lost, lost == 1 ? "" : "s", VP_STR_ARG(thread),
                     lost == 1 ? "was" : "were", (long long)(us / 1000),
                     (long long)(us < 0 ? -us : us) % 1000);
    const sink_quality q = {"lost-zones", SINK_WARNING, {text, (size_t)n}, -1, -1, true};
    if (c->r->lost_said < LOST_SAID_MAX)
        VP_TRY(c->r->out->quality(c->r->out, &q));
    c->r->lost_said++;
    n = snprintf(text, sizeof text, "lost zones of %.*s", VP_STR_ARG(thread));
    return xs_open_track(c, (vp_str){text, (size_t)n}, c->id, SINK_ROLE_DERIVED, track);
}

static int join_special(xs_line_ctx *c, const xs_part *p, const xs_special *s)
{
    xs_event_facts e;
    uint32_t meta = p->kinds[s->kind].meta;
    vp_str event = part_event_bytes(p, s->event, s->event_n);
    sink_event out = {.start_ps = s->start_ps,
                      .dur_ps = s->dur_ps,
                      .aligned_start_ps = SINK_NO_TIME,
                      .kind = p->global[s->kind],
                      .extra = &e.x};
    if (s->what == XS_SPECIAL_ARGS)
        return xs_args(c, out.kind, event, s->start_ps);
    xs_event_look(&e, c->plane, event);
    VP_TRY(
        s->what == XS_SPECIAL_LOST
            ? use_lost(c, e.lost, s->start_ps, &out.track)
            : use_allocator(c, meta == SINK_NONE ? NULL : &c->plane->meta[meta], &e, &out.track));
    return xs_emit(c->r, &out);
}

static int list_longest(sink_columns *out, xs_part *p, const xs_run *run, const xs_run *before)
{
    size_t n = run->kind_end - before->kind_end;
    VP_TRY(vp_grow(&p->longest, &p->longest_cap, n, sizeof *p->longest, VP_INTERN_MAX));
    for (size_t i = 0; i < n; i++) {
        p->longest[i] = p->kinds[before->kind_end + i].longest;
        p->longest[i].kind = p->global[before->kind_end + i];
    }
    out->longest = p->longest;
    out->longest_n = n;
    return 0;
}

static sink_times times_of_clock(const xs_clock *c, const xs_beside *b)
{
    sink_times s = c->s;
    s.longs = s.long_n ? b->longs + c->long_first : NULL;
    s.far = s.far_n ? b->far + c->far_first : NULL;
    return s;
}

/* Passes the run's events and values to the track. */
static int join_columns(xs_line_ctx *c, xs_part *p, const xs_run *run, const xs_run *before)
{
    sink_columns out = {.track = c->track,
                        .own = times_of_clock(&run->own, &p->own),
                        .first_dur_ps = run->first_dur_ps,
                        .buffer = run->buffer ? &run->buffer->m : NULL,
                        .kinds = p->global,
                        .values = p->values + before->value_end,
                        .value_n = run->value_end - before->value_end,
                        .sorted = run->sorted};
    if (!out.own.n)
        return 0;
    if (run->own_clock && c->few_places)
        VP_TRY(list_longest(&out, p, run, before));
    else if (run->own_clock)
        out.aligned = times_of_clock(&run->other, &p->other);
    return c->r->out->columns(c->r->out, &out);
}

/* Releases a buffer: its sink keeps the memory, or the rest is freed. */
static void close_buffer(xs_reader *r, xs_buffer *buffer)
{
    xs_buffer **at = &r->buffers;
    while (*at != buffer)
        at = &(*at)->next;
    *at = buffer->next;
    if (buffer->opened)
        r->out->settle(r->out, buffer->track, &buffer->m);
    vp_free(buffer->m.own);
    vp_free(buffer->m.aligned);
    vp_free(buffer);
}

void xs_buffers_close(xs_reader *r)
{
    while (r->buffers)
        close_buffer(r, r->buffers);
}

static int join_open_line(xs_reader *r, const xs_run *run, xs_line_ctx *c)
{
    uint32_t process = r->join_process;
    if (run->opens_process)
        VP_TRY(xs_open_process(r, c->plane, &process));
    r->join_process = c->process = process;
    if (run->opens_track)
        VP_TRY(xs_open_track(c, (vp_str){c->name, c->name_n}, c->id, c->role, &r->join_track));
    c->track = r->join_track;
    if (run->buffer && run->opens_track) {
        run->buffer->opened = true;
        run->buffer->track = c->track;
    }
    return 0;
}

static int join_run(xs_reader *r, xs_part *p, xs_run *run, const xs_run *before)
{
    xs_line_ctx *c = &run->line;
    if (c->role == SINK_ROLE_OPS)
        c->stream_label = rd_stream_label((vp_str){c->name, c->name_n});
    VP_TRY(join_open_line(r, run, c));
    for (size_t i = before->kind_end; i < run->kind_end; i++)
        VP_TRY(join_kind(c, p, &p->kinds[i], &p->global[i]));
    VP_TRY(join_columns(c, p, run, before));
    if (run->buffer && run->closes_track)
        close_buffer(r, run->buffer);
    for (size_t i = before->special_end; i < run->special_end; i++)
        VP_TRY(join_special(c, p, &p->specials[i]));
    for (size_t i = before->op_end; i < run->op_end; i++)
        p->ops[i].kind = p->global[p->ops[i].kind];
    if (run->op_end > before->op_end)
        VP_TRY(xs_cpu_add(c, p->ops + before->op_end, run->op_end - before->op_end));
    return run->cpu_end_end > before->cpu_end_end
               ? xs_cpu_add_ends(r, p->ends + before->cpu_end_end,
                                 run->cpu_end_end - before->cpu_end_end)
               : 0;
}

int xs_part_join(xs_reader *r, xs_part *p)
{
    static const xs_run none = {0};
    if (p->status < 0)
        return vp_fail_copy(&p->error);
    VP_TRY(vp_grow(&p->global, &p->global_cap, p->kind_n, sizeof *p->global, VP_INTERN_MAX));
    for (size_t i = 0; i < p->run_n; i++)
        VP_TRY(join_run(r, p, &p->runs[i], i ? &p->runs[i - 1] : &none));
    r->negative += p->negative;
    r->bad_time += p->bad_time;
    r->aggregated += p->aggregated;
    r->first_ps = p->first_ps < r->first_ps ? p->first_ps : r->first_ps;
    r->last_ps = p->last_ps > r->last_ps ? p->last_ps : r->last_ps;
    if (p->damage >= 0)
        xs_damaged(r, p->damage);
    if (p->skipped)
        r->out->skipped(r->out, p->skipped);
    return xs_flush(r);
}
