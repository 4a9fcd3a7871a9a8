/* Converts an XSpace to Trace Event JSON, chunk by chunk: one walk decides processes and threads,
 * then plane by plane its names, line by line its events through a window. Memory grows with the
 * names of one plane, and by 20 bytes per event of a line with unordered events. */
#include "trace/export/shared/added.h"
#include "trace/export/xspace/xspace_walk.h"

#include <stdio.h>

#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/mem.h"
#include "trace/export/export.h"

typedef struct xspace_json {
    xj_walk walk;   /* first member */
    xj_lanes lanes; /* of the current thread */
    uint64_t async_ids;
    bool started; /* the JSON */
    bool any;     /* event so far */
} xspace_json;

static void put_xspace_separator(xspace_json *x)
{
    if (x->any)
        vp_buf_put(&x->walk.out, ",\n", 2);
    x->any = true;
}

static void use_tid(xspace_json *x, const xj_track *t, uint32_t lane, uint32_t tid)
{
    char *head = x->lanes.head[lane];
    x->lanes.tid[lane] = tid;
    x->lanes.head_n[lane] = (size_t)snprintf(
        head, XJ_HEAD_MAX,
        "{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":", x->walk.layout.planes[t->plane].pid, tid);
}

/* A line that continues the thread of the previous line keeps its lanes. */
static int begin_xspace_track(xspace_json *x, size_t i)
{
    const xj_track *t = &x->walk.layout.tracks[i];
    VP_TRY(xj_walk_load(&x->walk, t->plane));
    x->walk.at = t->offset;
    x->walk.begun = true;
    if (i && t->thread == t[-1].thread)
        return 0;
    xj_lanes_free(&x->lanes);
    VP_TRY(xj_lanes_make(&x->lanes, &x->walk.layout, i, &x->walk.w));
    use_tid(x, t, 0, t->tid);
    return 0;
}

/* A sibling of a thread, for events that its own track cannot hold. */
static int open_lane(xspace_json *x, const xj_track *t, uint32_t lane)
{
    xj_row row = {.pid = x->walk.layout.planes[t->plane].pid, .sort = t->sort};
    VP_CLEANUP(vp_buf_free) vp_buf name;
    vp_buf_init(&name, 2 * XJ_NAME_MAX + 64);
    vp_buf_str(&name, t->name);
    VP_TRY(vp_buf_printf(&name, " (%u)", lane + 1));
    VP_TRY(xj_ids_fresh(&x->walk.layout, t, &row.tid));
    row.name = vp_buf_view(&name);
    use_tid(x, t, lane, row.tid);
    put_xspace_separator(x);
    xj_put_row(&x->walk.out, &row);
    return 0;
}

static int choose_place(xspace_json *x, const xj_track *t, xj_place *p)
{
    int lane = t->async ? (int)EX_LANE_ASYNC : xj_lanes_next(&x->lanes, &p->span);
    VP_TRY(lane);
    p->pid = x->walk.layout.planes[t->plane].pid;
    p->device = x->walk.layout.planes[t->plane].device;
    if (lane == (int)EX_LANE_ASYNC) {
        p->tid = t->tid;
        p->async = ++x->async_ids;
        return 0;
    }
    if (!x->lanes.tid[lane])
        VP_TRY(open_lane(x, t, (uint32_t)lane));
    p->tid = x->lanes.tid[lane];
    p->head = (vp_str){x->lanes.head[lane], x->lanes.head_n[lane]};
    return 0;
}

/* VP_ECORRUPT (not recorded): damaged. */
static int put_xspace_event(xspace_json *x, const xj_track *t, const xw_field *f)
{
    xj_event e;
    xj_place place = {0};
    int rc = xj_layout_read(&x->walk.layout, t, &x->walk.w, f, &e, &place.span);
    VP_TRY(rc);
    if (!rc) {
        if (!t->async)
            xj_lanes_next(&x->lanes, NULL);
        return VP_ECORRUPT;
    }
    if (!ex_pick_takes(x->walk.layout.pick, place.span.start, place.span.end)) {
        if (!t->async)
            xj_lanes_next(&x->lanes, &place.span);
        return 0;
    }
    VP_TRY(choose_place(x, t, &place));
    size_t before = x->walk.out.n;
    bool any = x->any;
    put_xspace_separator(x);
    rc = xj_put_event(&x->walk.out, &x->walk.names, &x->walk.flows, &e, &place);
    if (rc < 0 && x->walk.out.status >= 0) {
        x->walk.out.n = before;
        x->any = any;
    }
    return rc;
}

static int put_event_or_damage(xspace_json *x, const xj_track *t, const xw_field *f)
{
    int rc = put_xspace_event(x, t, f);
    if (x->walk.out.status < 0)
        return x->walk.out.status;
    if (rc != VP_ECORRUPT)
        return rc;
    xj_walk_damaged(&x->walk, f->offset);
    return 0;
}

/* Events of the current track until the chunk is full. */
static int continue_xspace_track(xspace_json *x, const xj_track *t)
{
    xw_field f;
    int rc;
    while ((rc = xj_walk_next(&x->walk, t, &f)) > 0)
        VP_TRY(put_event_or_damage(x, t, &f));
    return rc;
}

static int write_track_events(xspace_json *x)
{
    while (x->walk.track < x->walk.layout.track_count && !ex_out_full(&x->walk.out)) {
        const xj_track *t = &x->walk.layout.tracks[x->walk.track];
        if (!x->walk.begun)
            VP_TRY(begin_xspace_track(x, x->walk.track));
        VP_TRY(continue_xspace_track(x, t));
        if (x->walk.at < t->end)
            continue;
        x->walk.begun = false;
        x->walk.track++;
    }
    return 0;
}

static void finish_xspace_json(xspace_json *x)
{
    vp_buf *b = &x->walk.out;
    vp_buf_puts(b, "]");
    xj_walk_finish(&x->walk);
    if (x->walk.layout.damage >= 0) {
        vp_buf_puts(b, ",\"view_profile_damage\":");
        vp_json_quote(b, vp_str_of(x->walk.s.damage.message));
    }
    vp_buf_puts(b, "}\n");
}

/* Additional events at the end. 1: there are more. */
static int put_xspace_json_added(xspace_json *x)
{
    struct ex_added *added;
    int rc = xj_walk_added(&x->walk, &added);
    return rc > 0 ? ex_added_json(added, &x->walk.out, &x->any) : rc;
}

static int xspace_next(rd_stream *s, char **p, size_t *n)
{
    xspace_json *x = (xspace_json *)(void *)s;
    ex_out_reset(&x->walk.out);
    if (!x->started)
        vp_buf_puts(&x->walk.out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    x->started = true;
    int ready = xj_walk_ready(&x->walk);
    VP_TRY(ready);
    if (!ready)
        return ex_out_chunk(&x->walk.out, p, n);
    for (; x->walk.row < x->walk.layout.row_count && !ex_out_full(&x->walk.out); x->walk.row++) {
        put_xspace_separator(x);
        xj_put_row(&x->walk.out, &x->walk.layout.rows[x->walk.row]);
    }
    if (!x->walk.ended && x->walk.row == x->walk.layout.row_count) {
        VP_TRY(write_track_events(x));
        int more = 1;
        if (x->walk.track == x->walk.layout.track_count && !ex_out_full(&x->walk.out))
            more = put_xspace_json_added(x);
        VP_TRY(more);
        if (!more)
            finish_xspace_json(x);
    }
    s->raw_done =
        x->walk.ended || x->walk.track == x->walk.layout.track_count ? s->raw_total : x->walk.at;
    return x->walk.out.status < 0 ? x->walk.out.status : ex_out_chunk(&x->walk.out, p, n);
}

static void xspace_close(rd_stream *s)
{
    xspace_json *x = (xspace_json *)(void *)s;
    xj_lanes_free(&x->lanes);
    xj_walk_free(&x->walk);
    vp_free(x);
}

int ex_json_from_xspace(rd_stream **out, rd_source *in, ex_pick *pick)
{
    xspace_json *x = vp_calloc(1, sizeof *x);
    if (!x) {
        rd_source_close(in);
        return vp_no_memory();
    }
    x->walk.s = (rd_stream){.next = xspace_next, .close = xspace_close};
    int rc = xj_walk_init(&x->walk, in, pick, false);
    if (rc < 0) {
        xspace_close(&x->walk.s);
        return rc;
    }
    *out = &x->walk.s;
    return 0;
}
