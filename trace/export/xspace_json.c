/* An XSpace as Trace Event JSON, pulled chunk by chunk: one walk that decides processes and
 * threads, then plane by plane its names, line by line its events through a window. Memory grows
 * with the names of one plane, never with its events. */
#include "trace/export/xspace_json.h"

#include <stdio.h>

#include "trace/base/err.h"
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
    int64_t at;      /* in the current track, 0: not begun */
    int64_t line_ps; /* of the current track */
    char head[80];   /* of its events */
    size_t head_n;
    uint64_t damaged_events;
    bool started, ended; /* the JSON */
    bool begun;          /* the current track */
    bool any;            /* event so far */
} xspace_json;

void xj_put_us(vp_buf *b, int64_t ps)
{
    uint64_t v = ps < 0 ? 0 - (uint64_t)ps : (uint64_t)ps;
    char fraction[7] = ".000000";
    uint64_t rest = v % 1000000;
    size_t n = 7;
    for (size_t i = 6; i > 0; i--, rest /= 10)
        fraction[i] = (char)('0' + rest % 10);
    while (n > 1 && fraction[n - 1] == '0')
        n--;
    if (ps < 0)
        vp_buf_putc(b, '-');
    vp_buf_u64(b, v / 1000000);
    vp_buf_put(b, fraction, n > 1 ? n : 0);
}

static void put_args(vp_buf *b, const xj_names *n, const xj_arg *args, uint32_t count)
{
    vp_buf_puts(b, ",\"args\":{");
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            vp_buf_putc(b, ',');
        vp_buf_str(b, n->keys[args[i].key].text);
        vp_buf_putc(b, ':');
        xj_put_value(b, &args[i]);
    }
    vp_buf_putc(b, '}');
}

/* A step_name among the args replaces the name and stays an arg. */
static void put_name(vp_buf *b, const xj_names *n, const xj_meta *m, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (n->keys[n->args[i].key].step) {
            xj_put_value(b, &n->args[i]);
            return;
        }
    }
    vp_buf_str(b, m->name);
}

int xj_put_event(vp_buf *b, xj_names *n, vp_str event, vp_str head, int64_t line_ps)
{
    int64_t id = 0, offset = 0, duration = 0, start;
    vp_pb r = vp_pb_of(event);
    vp_pb_field f;
    int rc;
    while ((rc = vp_pb_next(&r, &f)) > 0) {
        if (f.wire != VP_PB_VARINT)
            continue;
        if (f.number == XEVENT_METADATA_ID)
            id = (int64_t)f.u;
        else if (f.number == XEVENT_OFFSET_PS)
            offset = (int64_t)f.u;
        else if (f.number == XEVENT_DURATION_PS)
            duration = (int64_t)f.u;
    }
    if (rc < 0 || __builtin_add_overflow(line_ps, offset, &start))
        return VP_ECORRUPT;
    const xj_meta *m = xj_names_meta(n, id);
    if (!m)
        return VP_ENOMEM;
    if (m->internal)
        return 0;
    uint32_t count = m->arg_count;
    memcpy(n->args, m->args, count * sizeof *n->args);
    for (r = vp_pb_of(event); vp_pb_next(&r, &f) > 0;)
        if (f.number == XEVENT_STATS && f.wire == VP_PB_LEN)
            VP_TRY(xj_names_set(n, &count, f.data));
    vp_buf_str(b, head);
    xj_put_us(b, start);
    vp_buf_puts(b, ",\"dur\":");
    xj_put_us(b, duration > 1 ? duration : 1); /* jaxlib's least: 1 ps */
    vp_buf_puts(b, ",\"name\":");
    put_name(b, n, m, count);
    if (count)
        put_args(b, n, n->args, count);
    vp_buf_putc(b, '}');
    return b->status < 0 ? b->status : 1;
}

static void separate(xspace_json *x)
{
    vp_buf_puts(&x->out, x->any ? ",\n" : "");
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
    VP_TRY(xs_plane_read(&x->plane, &x->w, pl->offset, pl->end, false));
    if (x->plane.damage >= 0)
        damaged(x, x->plane.damage);
    return xj_names_make(&x->names, &x->plane);
}

static int begin_track(xspace_json *x, const xj_track *t)
{
    int64_t ns = t->timestamp_ns;
    VP_TRY(load(x, t->plane));
    x->at = t->offset;
    if (ns >= x->layout.base_ns)
        ns -= x->layout.base_ns;
    if (__builtin_mul_overflow(ns, INT64_C(1000), &x->line_ps)) {
        damaged(x, t->offset);
        x->at = t->end;
    }
    x->head_n = (size_t)snprintf(
        x->head, sizeof x->head,
        "{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":", x->layout.planes[t->plane].pid, t->tid);
    return 0;
}

static int one_event(xspace_json *x, const xw_field *f)
{
    const uint8_t *p;
    size_t have, before = x->out.n;
    bool any = x->any;
    int rc = VP_ECORRUPT;
    if (f->u <= VP_JSON_EVENT_MAX) {
        VP_TRY(f->u ? xw_need(&x->w, f->offset, (size_t)f->u, &p, &have) : 0);
        separate(x);
        rc = xj_put_event(&x->out, &x->names, (vp_str){f->u ? (const char *)p : "", (size_t)f->u},
                          (vp_str){x->head, x->head_n}, x->line_ps);
    }
    if (rc > 0)
        return 0;
    if (x->out.status < 0)
        return x->out.status;
    x->out.n = before;
    x->any = any;
    if (rc == VP_ECORRUPT) {
        x->damaged_events++;
        damaged(x, f->offset);
    }
    return rc == VP_ECORRUPT ? 0 : rc;
}

/* Events of the current track until the chunk is full. */
static int go_on(xspace_json *x, const xj_track *t)
{
    xw_field f;
    int rc = 1;
    while (!ex_out_full(&x->out) && (rc = xw_next(&x->w, &x->at, t->end, &f)) > 0)
        if (f.number == XLINE_EVENTS && f.wire == VP_PB_LEN)
            VP_TRY(one_event(x, &f));
    if (rc == VP_ECORRUPT) {
        damaged(x, x->at);
        x->at = t->end;
    }
    return rc == VP_ECORRUPT ? 0 : rc;
}

/* In-flight copies and collectives overlap each other; jaxlib leaves their line out. */
static bool is_shown(const xj_track *t)
{
    return !vp_str_eq(t->name, VP_STR("Async XLA Ops"));
}

static int tracks(xspace_json *x)
{
    while (x->track < x->layout.track_count && !ex_out_full(&x->out)) {
        const xj_track *t = &x->layout.tracks[x->track];
        if (!x->begun && is_shown(t))
            VP_TRY(begin_track(x, t));
        x->begun = true;
        if (is_shown(t))
            VP_TRY(go_on(x, t));
        if (is_shown(t) && x->at < t->end)
            continue;
        x->begun = false;
        x->track++;
    }
    return 0;
}

static void finish(xspace_json *x)
{
    vp_buf_puts(&x->out, "]}\n");
    x->ended = true;
    if (x->layout.damage < 0)
        return;
    vp_fail(VP_ECORRUPT, "the XSpace is damaged here; what is good before and behind it is shown");
    vp_fail_at(VP_ECORRUPT, NULL, -1, x->layout.damage);
    x->s.damage = *vp_error_last();
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
    xj_layout_free(&x->layout);
    xw_free(&x->w);
    vp_buf_free(&x->out);
    rd_source_close(x->source);
    vp_free(x);
}

int ex_json_from_xspace(rd_stream **out, rd_source *in)
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
        rc = xj_layout_make(&x->layout, &x->w);
    if (rc >= 0)
        rc = ex_out_init(&x->out);
    if (rc < 0) {
        xspace_close(&x->s);
        return rc;
    }
    *out = &x->s;
    return 0;
}
