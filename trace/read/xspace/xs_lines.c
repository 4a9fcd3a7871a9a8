/* Lines: which of them are wanted, and where they are cut into runs. */
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/image/xspace_fields.h"
#include "trace/read/names/roles.h"
#include "trace/read/xspace/xs_crew.h"

/* A line while its first pass goes over it. */
typedef struct line_cut {
    xs_line_ctx c;
    uint64_t events;
    xs_cut *cuts; /* the reader's */
    size_t n;
} line_cut;

static void line_field(xs_line_ctx *c, const vp_pb_field *f)
{
    bool text = f->wire == VP_PB_LEN;
    if (f->number == XLINE_ID && !text)
        c->id = (int64_t)f->u;
    else if (f->number == XLINE_TIMESTAMP_NS && !text)
        c->timestamp_ns = (int64_t)f->u;
    else if (text && f->data.n &&
             (f->number == XLINE_DISPLAY_NAME || (f->number == XLINE_NAME && !c->name_n))) {
        c->name_n = f->data.n < sizeof c->name ? f->data.n : sizeof c->name;
        memcpy(c->name, f->data.p, c->name_n);
    }
}

/* Takes one field at p; an event is only counted. Returns the bytes consumed; 0: more bytes are
 * needed, or it is damaged. */
static size_t one_field(line_cut *l, const uint8_t *p, const uint8_t *end)
{
    vp_pb r = {p, end};
    vp_pb_field f;
    if (*p == XLINE_EVENTS_TAG) {
        uint64_t n;
        r.p++;
        if (!vp_pb_varint(&r, &n) || n > (uint64_t)(end - r.p))
            return 0;
        l->events++;
        return (size_t)(r.p - p) + (size_t)n;
    }
    if (vp_pb_next(&r, &f) <= 0)
        return 0;
    line_field(&l->c, &f);
    return (size_t)(r.p - p);
}

/* Cuts where a run is large enough. */
static int cut(line_cut *l, xs_reader *r, int64_t at, bool last)
{
    xs_cut here = {at, l->events};
    xs_cut before = l->n ? l->cuts[l->n - 1] : (xs_cut){r->line_offset, 0};
    if (!last && at - before.end < (int64_t)XS_PART_BYTES &&
        here.events - before.events < XS_PART_EVENTS)
        return 0;
    VP_TRY(vp_grow(&r->cuts, &r->cut_cap, l->n + 1, sizeof here, SIZE_MAX / 32));
    l->cuts = r->cuts;
    l->cuts[l->n++] = here;
    return 0;
}

/* Goes over the complete fields of p: where it ended. */
static int walk_fields(line_cut *l, xs_reader *r, const uint8_t *p, const uint8_t *end, int64_t at,
                       const uint8_t **cur)
{
    for (*cur = p; *cur < end;) {
        size_t n = one_field(l, *cur, end);
        if (!n)
            break;
        *cur += n;
        VP_TRY(cut(l, r, at + (*cur - p), false));
    }
    return 0;
}

/* The first pass over a line: takes its header, counts its events, cuts it. */
static int walk(line_cut *l, xs_reader *r, const xs_line *line)
{
    int64_t at = line->offset;
    size_t want = 1;
    r->line_offset = at;
    while (at < line->end) {
        const uint8_t *p, *cur;
        size_t have;
        int rc = xw_need(&r->w, at, want, &p, &have);
        if (rc == VP_ECORRUPT)
            break;
        VP_TRY(rc);
        if ((int64_t)have > line->end - at)
            have = (size_t)(line->end - at);
        VP_TRY(walk_fields(l, r, p, p + have, at, &cur));
        if (cur == p && (int64_t)have >= line->end - at)
            break;
        want = cur == p ? have * 2 : 1;
        if ((int64_t)want > line->end - at - (cur - p))
            want = (size_t)(line->end - at - (cur - p));
        at += cur - p;
        if (want > VP_XPLANE_META_MAX)
            break;
        want = want ? want : 1;
    }
    if (at < line->end)
        xs_damaged(r, at);
    return cut(l, r, at, true);
}

/* Gives the runs of a line to the crew. */
static int read_runs(line_cut *l, xs_crew *crew, const xs_line *line)
{
    xs_run run = {.line = l->c, .end = line->offset, .opens_track = true};
    uint64_t events = 0;
    for (size_t i = 0; i < l->n; i++) {
        run.offset = run.end;
        run.end = l->cuts[i].end;
        run.events = l->cuts[i].events - events;
        events = l->cuts[i].events;
        VP_TRY(xs_crew_add(crew, &run));
        run.opens_track = false;
    }
    return 0;
}

static int skip(xs_reader *r, const line_cut *l)
{
    r->out->skipped(r->out, l->events);
    return 0;
}

static int read_line(xs_reader *r, xs_crew *crew, uint32_t plane_index, const xs_line *line,
                     bool device)
{
    line_cut l = {.c = {.r = r,
                        .plane = &r->planes[plane_index],
                        .plane_index = plane_index,
                        .device = device}};
    xs_line_ctx *c = &l.c;
    VP_TRY(walk(&l, r, line));
    vp_str name = {c->name, c->name_n};
    c->role = device                                  ? rd_role_of_id(c->plane->name, name, c->id)
              : vp_str_eq(name, VP_STR("_counters_")) ? SINK_ROLE_COUNTER
                                                      : SINK_ROLE_PLAIN;
    int64_t ns;
    if (__builtin_sub_overflow(c->timestamp_ns, r->base_ns, &ns) ||
        __builtin_mul_overflow(ns, INT64_C(1000), &c->base_ps)) {
        r->bad_time += l.events;
        return skip(r, &l);
    }
    bool ops = c->role == SINK_ROLE_OPS;
    bool wanted = ops || (r->want_host && c->role != SINK_ROLE_DERIVED) ||
                  (device && c->role == SINK_ROLE_MODULES);
    if (device ? !wanted : !wanted && r->device_ops)
        return skip(r, &l);
    if (ops) {
        vp_str label = rd_stream_label(name);
        c->label_hash = label.n ? vp_hash(label.p, label.n, 3) : 0;
        r->device_ops += l.events;
    }
    c->cpu_ops = !device && !r->device_ops;
    return read_runs(&l, crew, line);
}

int xs_lines_read(xs_reader *r, xs_crew *crew, uint32_t plane_index, bool device)
{
    const xs_plane *pl = &r->planes[plane_index];
    xs_run opens = {.line = {.r = r, .plane = &r->planes[plane_index], .plane_index = plane_index},
                    .opens_process = true};
    VP_TRY(xs_crew_add(crew, &opens));
    for (size_t i = 0; i < pl->line_count; i++) {
        const xs_line *line = &pl->lines[i];
        if (r->opts && r->opts->progress &&
            r->opts->progress(r->opts->progress_ctx, line->offset, r->w.size))
            return vp_fail(VP_ECANCELLED, "stopped");
        VP_TRY(read_line(r, crew, plane_index, line, device));
    }
    return 0;
}
