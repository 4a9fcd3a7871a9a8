/* An XSpace as Trace Event JSON, pulled chunk by chunk: one walk that decides processes and
 * threads, then plane by plane its names, line by line its events through a window. Memory grows
 * with the names of one plane, and by 20 bytes an event of a line whose events stand in no order of
 * time. */
#include "trace/export/xspace_json.h"

#include <stdio.h>

#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/mem.h"
#include "trace/export/export.h"
#include "trace/export/stream_out.h"
#include "trace/image/xspace_fields.h"

typedef struct xspace_json {
    rd_stream s; /* first member */
    rd_source *source;
    xs_window w;
    xj_layout layout;
    xs_plane plane;
    xj_names names;
    vp_buf out;
    uint32_t loaded; /* the plane in `plane`, or UINT32_MAX */
    size_t row, track;
    int64_t at;     /* in the current track */
    xj_lanes lanes; /* of its thread */
    xj_flows flows;
    uint64_t async_ids;
    uint64_t damaged_events;
    bool started, ended; /* the JSON */
    bool begun;          /* the current track */
    bool any;            /* event so far */
} xspace_json;

static void separate(xspace_json *x)
{
    if (x->any)
        vp_buf_put(&x->out, ",\n", 2);
    x->any = true;
}

static void damaged(xspace_json *x, int64_t at)
{
    if (x->layout.damage < 0)
        x->layout.damage = at;
}

static void unload(xspace_json *x)
{
    if (x->loaded == UINT32_MAX)
        return;
    xj_names_free(&x->names);
    xs_plane_free(&x->plane);
    x->loaded = UINT32_MAX;
}

static int load(xspace_json *x, uint32_t plane)
{
    const xj_plane *pl = &x->layout.planes[plane];
    if (x->loaded == plane)
        return 0;
    unload(x);
    x->loaded = plane;
    x->plane = (xs_plane){0};
    x->names = (xj_names){0};
    VP_TRY(xs_plane_read(&x->plane, &x->w, pl->offset, pl->end, true));
    if (x->plane.damage >= 0)
        damaged(x, x->plane.damage);
    return xj_names_make(&x->names, &x->plane, false);
}

static void use_tid(xspace_json *x, const xj_track *t, uint32_t lane, uint32_t tid)
{
    char *head = x->lanes.head[lane];
    x->lanes.tid[lane] = tid;
    x->lanes.head_n[lane] = (size_t)snprintf(
        head, XJ_HEAD_MAX,
        "{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":", x->layout.planes[t->plane].pid, tid);
}

/* A line that goes on with the thread of the line before it keeps its lanes. */
static int begin_track(xspace_json *x, size_t i)
{
    const xj_track *t = &x->layout.tracks[i];
    VP_TRY(load(x, t->plane));
    x->at = t->offset;
    x->begun = true;
    if (i && t->thread == t[-1].thread)
        return 0;
    xj_lanes_free(&x->lanes);
    VP_TRY(xj_lanes_make(&x->lanes, &x->layout, i, &x->w));
    use_tid(x, t, 0, t->tid);
    return 0;
}

/* A sibling of a thread, where events lie that its own track cannot take. */
static int open_lane(xspace_json *x, const xj_track *t, uint32_t lane)
{
    xj_row row = {.pid = x->layout.planes[t->plane].pid, .sort = t->sort};
    VP_CLEANUP(vp_buf_free) vp_buf name;
    vp_buf_init(&name, 2 * XJ_NAME_MAX + 64);
    vp_buf_str(&name, t->name);
    VP_TRY(vp_buf_printf(&name, " (%u)", lane + 1));
    VP_TRY(xj_ids_fresh(&x->layout, t, &row.tid));
    row.name = vp_buf_view(&name);
    use_tid(x, t, lane, row.tid);
    separate(x);
    xj_put_row(&x->out, &row);
    return 0;
}

static int choose_place(xspace_json *x, const xj_track *t, xj_place *p)
{
    int lane = t->async ? (int)EX_LANE_ASYNC : xj_lanes_next(&x->lanes, &p->span);
    VP_TRY(lane);
    p->pid = x->layout.planes[t->plane].pid;
    p->device = x->layout.planes[t->plane].device;
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
static int put_event(xspace_json *x, const xj_track *t, const xw_field *f)
{
    vp_str event;
    xj_event e;
    xj_place place = {0};
    int rc = xj_event_bytes(&event, &x->w, f);
    VP_TRY(rc);
    if (!rc || !xj_event_read(&e, event) || !xj_layout_span(&x->layout, t, &e, &place.span)) {
        if (!t->async)
            xj_lanes_next(&x->lanes, NULL);
        return VP_ECORRUPT;
    }
    if (!ex_pick_takes(x->layout.pick, place.span.start, place.span.end)) {
        if (!t->async)
            xj_lanes_next(&x->lanes, &place.span);
        return 0;
    }
    VP_TRY(choose_place(x, t, &place));
    size_t before = x->out.n;
    bool any = x->any;
    separate(x);
    rc = xj_put_event(&x->out, &x->names, &x->flows, event, &e, &place);
    if (rc < 0 && x->out.status >= 0) {
        x->out.n = before;
        x->any = any;
    }
    return rc;
}

static int one_event(xspace_json *x, const xj_track *t, const xw_field *f)
{
    int rc = put_event(x, t, f);
    if (x->out.status < 0)
        return x->out.status;
    if (rc != VP_ECORRUPT)
        return rc;
    x->damaged_events++;
    damaged(x, f->offset);
    return 0;
}

/* Events of the current track until the chunk is full. */
static int go_on(xspace_json *x, const xj_track *t)
{
    xw_field f;
    int rc = 1;
    while (!ex_out_full(&x->out) && (rc = xw_next(&x->w, &x->at, t->end, &f)) > 0)
        if (f.number == XLINE_EVENTS && f.wire == VP_PB_LEN)
            VP_TRY(one_event(x, t, &f));
    if (rc == VP_ECORRUPT) {
        damaged(x, x->at);
        x->at = t->end;
    }
    return rc == VP_ECORRUPT ? 0 : rc;
}

static int tracks(xspace_json *x)
{
    while (x->track < x->layout.track_count && !ex_out_full(&x->out)) {
        const xj_track *t = &x->layout.tracks[x->track];
        if (!x->begun)
            VP_TRY(begin_track(x, x->track));
        VP_TRY(go_on(x, t));
        if (x->at < t->end)
            continue;
        x->begun = false;
        x->track++;
    }
    return 0;
}

static void finish(xspace_json *x)
{
    vp_buf_puts(&x->out, "]");
    x->ended = true;
    if (x->layout.damage >= 0) {
        vp_fail(VP_ECORRUPT,
                "the XSpace is damaged here; what is good before and behind it is shown");
        vp_fail_at(VP_ECORRUPT, NULL, -1, x->layout.damage);
        x->s.damage = *vp_error_last();
        vp_buf_puts(&x->out, ",\"view_profile_damage\":");
        vp_json_quote(&x->out, vp_str_of(x->s.damage.message));
    }
    vp_buf_puts(&x->out, "}\n");
}

static int xspace_next(rd_stream *s, char **p, size_t *n)
{
    xspace_json *x = (xspace_json *)(void *)s;
    ex_out_reset(&x->out);
    if (!x->started)
        vp_buf_puts(&x->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    x->started = true;
    for (; x->row < x->layout.row_count && !ex_out_full(&x->out); x->row++) {
        separate(x);
        xj_put_row(&x->out, &x->layout.rows[x->row]);
    }
    if (!x->ended && x->row == x->layout.row_count) {
        VP_TRY(tracks(x));
        if (x->track == x->layout.track_count && !ex_out_full(&x->out))
            finish(x);
    }
    s->raw_done = x->ended || x->track == x->layout.track_count ? s->raw_total : x->at;
    return x->out.status < 0 ? x->out.status : ex_out_chunk(&x->out, p, n);
}

static void xspace_close(rd_stream *s)
{
    xspace_json *x = (xspace_json *)(void *)s;
    unload(x);
    xj_lanes_free(&x->lanes);
    xj_flows_free(&x->flows);
    xj_layout_free(&x->layout);
    xw_free(&x->w);
    vp_buf_free(&x->out);
    rd_source_close(x->source);
    vp_free(x);
}

int ex_json_from_xspace(rd_stream **out, rd_source *in, ex_pick *pick)
{
    xspace_json *x = vp_calloc(1, sizeof *x);
    if (!x) {
        rd_source_close(in);
        return vp_no_memory();
    }
    x->s = (rd_stream){
        .next = xspace_next, .close = xspace_close, .total = -1, .raw_total = rd_source_size(in)};
    x->source = in;
    x->loaded = UINT32_MAX;
    int rc = xw_init(&x->w, in);
    if (rc >= 0)
        rc = xj_layout_make(&x->layout, &x->w, pick);
    if (rc >= 0)
        rc = ex_out_init(&x->out);
    if (rc < 0) {
        xspace_close(&x->s);
        return rc;
    }
    *out = &x->s;
    return 0;
}
