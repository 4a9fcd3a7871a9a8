/* Selects the lines to read, and cuts them into runs. */
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/vpcap/xspace_fields.h"
#include "trace/read/semantics/roles.h"
#include "trace/read/xspace/xs_workers.h"

/* Allocates memory for the events of a line; no page of it is touched before decoding. */
static int line_make_buffer(xs_buffer **out, const xs_line_ctx *c, uint64_t events)
{
    xs_buffer *buffer = vp_calloc(1, sizeof *buffer);
    VP_NEED(buffer);
    *out = buffer;
    buffer->next = c->r->buffers;
    c->r->buffers = buffer;
    if (events > VP_EVENTS_MAX / 2)
        return vp_fail(VP_ELIMIT, "more than %u events on one track", VP_EVENTS_MAX / 2);
    buffer->m.cap = (size_t)events;
    buffer->m.own = vp_realloc_array(NULL, buffer->m.cap, sizeof *buffer->m.own);
    if (buffer->m.own && c->device && !c->few_places)
        buffer->m.aligned = vp_realloc_array(NULL, buffer->m.cap, sizeof *buffer->m.aligned);
    if (!buffer->m.own || (c->device && !c->few_places && !buffer->m.aligned))
        return vp_fail(VP_ENOMEM, "out of memory for %zu events", buffer->m.cap);
    return 0;
}

/* Passes the runs of a line to the workers. */
static int give_line_runs(const xs_line_ctx *c, const xs_lined *l, xs_workers *workers,
                          const xs_line *line)
{
    xs_run run = {.line = *c, .end = line->offset, .opens_track = true};
    uint64_t events = 0;
    if (l->events && (c->device || c->r->want_host))
        VP_TRY(line_make_buffer(&run.buffer, c, l->events));
    for (size_t i = 0; i < l->n; i++) {
        run.offset = run.end;
        run.end = l->cuts[i].end;
        run.at = events;
        run.events = l->cuts[i].events - events;
        run.closes_track = i + 1 == l->n;
        events = l->cuts[i].events;
        VP_TRY(xs_workers_add(workers, &run));
        run.opens_track = false;
    }
    return 0;
}

static int skip_line(xs_reader *r, const xs_lined *l)
{
    r->out->skipped(r->out, l->events);
    return 0;
}

static void use_head(xs_line_ctx *c, const xs_head *h)
{
    c->id = h->id;
    c->timestamp_ns = h->timestamp_ns;
    c->name_n = h->display_n ? h->display_n : h->name_n;
    memcpy(c->name, h->display_n ? h->display : h->name, c->name_n);
    vp_str name = {c->name, c->name_n};
    c->role = c->device                               ? rd_role_of_id(c->plane->name, name, c->id)
              : vp_str_eq(name, VP_STR("_counters_")) ? SINK_ROLE_COUNTER
                                                      : SINK_ROLE_PLAIN;
}

static bool is_wanted_line(const xs_reader *r, const xs_line_ctx *c)
{
    if (c->role == SINK_ROLE_OPS || (r->want_host && c->role != SINK_ROLE_DERIVED))
        return true;
    return c->device ? c->role == SINK_ROLE_MODULES : !r->device_ops;
}

static void begin_ops(xs_reader *r, xs_line_ctx *c, uint64_t events)
{
    vp_str label = rd_stream_label((vp_str){c->name, c->name_n});
    c->label_hash = label.n ? vp_hash(label.p, label.n, 3) : 0;
    c->few_places = !r->want_host && r->opts->longest_only;
    r->device_ops += events;
}

static int read_one_line(xs_reader *r, xs_workers *workers, uint32_t plane_index,
                         const xs_line *line, bool device)
{
    xs_lined l;
    xs_line_ctx ctx = {.r = r,
                       .plane = &r->planes[plane_index],
                       .plane_index = plane_index,
                       .device = device},
                *c = &ctx;
    VP_TRY(xs_workers_line(workers, &l, line));
    use_head(c, &l.head);
    if (l.damage >= 0)
        xs_damaged(r, l.damage);
    int64_t ns;
    if (__builtin_sub_overflow(c->timestamp_ns, r->base_ns, &ns) ||
        __builtin_mul_overflow(ns, INT64_C(1000), &c->base_ps)) {
        r->bad_time += l.events;
        return skip_line(r, &l);
    }
    if (!is_wanted_line(r, c))
        return skip_line(r, &l);
    if (c->role == SINK_ROLE_OPS)
        begin_ops(r, c, l.events);
    c->cpu_ops = !device && !r->device_ops;
    return give_line_runs(c, &l, workers, line);
}

/* True for host planes after a device has ops, if none of their lines is needed. */
static bool leaves_host_lines(const xs_reader *r, bool device)
{
    return !device && !r->want_host && r->device_ops && r->opts->uncounted;
}

int xs_lines_plan(const xs_reader *r, xs_workers *workers, uint32_t plane_index, bool device)
{
    const xs_plane *pl = &r->planes[plane_index];
    if (leaves_host_lines(r, device))
        return 0;
    for (size_t i = 0; i < pl->line_count; i++)
        VP_TRY(xs_workers_plan(workers, &pl->lines[i]));
    return 0;
}

int xs_lines_read(xs_reader *r, xs_workers *workers, uint32_t plane_index, bool device)
{
    const xs_plane *pl = &r->planes[plane_index];
    xs_run opens = {.line = {.r = r, .plane = &r->planes[plane_index], .plane_index = plane_index},
                    .opens_process = true};
    VP_TRY(xs_workers_add(workers, &opens));
    bool left = leaves_host_lines(r, device);
    for (size_t i = 0; i < pl->line_count; i++) {
        const xs_line *line = &pl->lines[i];
        if (left) {
            r->out->skipped(r->out,
                            line->offset < line->end); /* not their number, only if there are any */
            continue;
        }
        if (r->opts && r->opts->progress &&
            r->opts->progress(r->opts->progress_ctx, line->offset, r->w.size))
            return vp_fail(VP_ECANCELLED, "stopped");
        VP_TRY(read_one_line(r, workers, plane_index, line, device));
    }
    return 0;
}
