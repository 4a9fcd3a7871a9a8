/* The times of an XSpace's events, and the track of each within its thread. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/shared/times.h"
#include "trace/export/xspace/xspace_json.h"
#include "trace/vpcap/xspace_fields.h"

static void event_take_field(xj_event *e, uint32_t number, uint64_t u)
{
    if (number == XEVENT_METADATA_ID)
        e->metadata_id = (int64_t)u;
    else if (number == XEVENT_OFFSET_PS)
        e->offset_ps = (int64_t)u;
    else if (number == XEVENT_DURATION_PS)
        e->duration_ps = (int64_t)u;
}

/* A field at r->p that is not in its usual form. */
static bool read_odd(xj_event *e, vp_pb *r, bool *stat)
{
    vp_pb_field f;
    if (vp_pb_next(r, &f) <= 0)
        return false;
    *stat = f.number == XEVENT_STATS;
    event_take_field(e, f.wire == VP_PB_VARINT ? f.number : 0, f.u);
    return true;
}

/* The fields of every event in their usual form are parsed directly, because each event is read
 * twice. */
static bool read_event_times(xj_event *e, vp_str event)
{
    vp_pb r = vp_pb_of(event);
    const uint8_t *start = r.p, *first = NULL;
    vp_str content;
    uint64_t u;
    *e = (xj_event){0};
    while (r.p < r.end) {
        const uint8_t *at = r.p;
        bool stat = false;
        if (*at == XEVENT_METADATA_ID_TAG || *at == XEVENT_OFFSET_PS_TAG ||
            *at == XEVENT_DURATION_PS_TAG) {
            r.p++;
            if (!vp_pb_varint_long(&r, &u))
                return false;
            event_take_field(e, *at >> 3, u);
        } else if (vp_pb_take_short(&r, XEVENT_STATS_TAG, &content)) {
            stat = true;
        } else if (!read_odd(e, &r, &stat)) {
            return false;
        }
        if (stat && !first)
            first = at;
    }
    e->stats = vp_str_skip(event, first ? (size_t)(first - start) : event.n);
    return true;
}

bool xj_event_span(xj_span *s, const xj_event *e)
{
    int64_t end;
    if (__builtin_add_overflow(e->offset_ps, e->duration_ps > 0 ? e->duration_ps : 0, &end))
        return false;
    *s = (xj_span){ex_round_ns(e->offset_ps), ex_round_ns(end)};
    return true;
}

int xj_event_read(xj_event *e, xs_window *w, const xw_field *f)
{
    const uint8_t *p = (const uint8_t *)"";
    size_t have;
    if (f->u > VP_JSON_EVENT_MAX)
        return 0;
    if (f->u)
        VP_TRY(xw_need(w, f->offset, (size_t)f->u, &p, &have));
    return read_event_times(e, (vp_str){(const char *)p, (size_t)f->u});
}

/* Accepts the same events as the reader, with times in whole ns. */
static bool span_of_event(const xj_layout *l, const xj_track *t, const xj_event *e, xj_span *s)
{
    const int64_t least = -(VP_TIME_MAX_PS / 1000);
    if (!xj_event_span(s, e) || __builtin_add_overflow(s->start, t->start_ns, &s->start) ||
        __builtin_add_overflow(s->end, t->start_ns, &s->end))
        return false;
    if (s->start < least || s->end > XS_EPOCH_NS)
        return false;
    s->start += l->shift_ns;
    s->end += l->shift_ns;
    return s->start >= 0;
}

int xj_layout_read(const xj_layout *l, const xj_track *t, xs_window *w, const xw_field *f,
                   xj_event *e, xj_span *s)
{
    int rc = xj_event_read(e, w, f);
    return rc > 0 ? span_of_event(l, t, e, s) : rc;
}

int xj_scan_event(xj_scan *s, xs_window *w, const xw_field *f)
{
    xj_event e;
    xj_span at;
    int rc = xj_event_read(&e, w, f);
    if (rc <= 0 || !xj_event_span(&at, &e))
        return rc < 0 ? rc : 0;
    VP_TRY(ex_pick_count(s->pick, at.end - at.start));
    if (!s->events++) {
        s->least_ns = at.start;
    } else if (at.start < s->last.start || (at.start == s->last.start && at.end > s->last.end)) {
        s->unsorted = true;
        s->least_ns = at.start < s->least_ns ? at.start : s->least_ns;
    }
    s->last = at;
    if (s->unsorted || s->overlapping)
        return 0;
    int lane = ex_lanes_take(&s->lanes, at.start, at.end);
    s->overlapping = lane > 0;
    return lane < 0 ? lane : 0;
}

void xj_scan_free(xj_scan *s)
{
    ex_lanes_free(&s->lanes);
}

/* Adds a line's events to the spans, with ids from *number on. Damage is reported when they are
 * written. */
static int collect_line_spans(ex_spans *spans, const xj_layout *layout, const xj_track *t,
                              xs_window *w, uint32_t *number)
{
    int64_t at = t->offset;
    xw_field f;
    int rc;
    while ((rc = xw_next(w, &at, t->end, &f)) > 0) {
        xj_event e;
        xj_span s;
        if (f.number != XLINE_EVENTS || f.wire != VP_PB_LEN)
            continue;
        uint32_t id = (*number)++;
        VP_TRY(rc = xj_layout_read(layout, t, w, &f, &e, &s));
        if (rc)
            VP_TRY(ex_spans_add(spans, s.start, s.end, id));
    }
    return rc == VP_ECORRUPT ? 0 : rc;
}

static bool same_thread(const xj_layout *layout, size_t a, size_t b)
{
    return b < layout->track_count && layout->tracks[a].thread == layout->tracks[b].thread;
}

static int collect_all(xj_lanes *l, const xj_layout *layout, size_t first, xs_window *w)
{
    ex_spans spans = {0};
    uint32_t number = 0;
    int rc = 0;
    for (size_t i = first; rc >= 0 && same_thread(layout, first, i); i++)
        if (!layout->tracks[i].async)
            rc = collect_line_spans(&spans, layout, &layout->tracks[i], w, &number);
    if (rc >= 0)
        rc = ex_spans_lanes(&spans, &l->moves, NULL);
    else
        ex_spans_free(&spans);
    ex_moves_sort(&l->moves);
    return rc;
}

int xj_lanes_make(xj_lanes *l, const xj_layout *layout, size_t first, xs_window *w)
{
    const xj_track *t = &layout->tracks[first];
    *l = (xj_lanes){0};
    l->by_moves = t->unsorted || same_thread(layout, first, first + 1);
    l->by_time = !l->by_moves && t->overlapping;
    return l->by_moves ? collect_all(l, layout, first, w) : 0;
}

void xj_lanes_free(xj_lanes *l)
{
    ex_lanes_free(&l->sorted);
    vp_free(l->moves.list);
    *l = (xj_lanes){0};
}

int xj_lanes_next(xj_lanes *l, const xj_span *s)
{
    uint32_t event = l->event++;
    if (l->by_time)
        return s ? ex_lanes_take(&l->sorted, s->start, s->end) : 0;
    if (l->move == l->moves.count || l->moves.list[l->move].id != event)
        return 0;
    return (int)l->moves.list[l->move++].lane;
}
