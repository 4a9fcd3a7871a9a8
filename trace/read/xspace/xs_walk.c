#include "trace/read/xspace/xs_walk.h"

#include <string.h>

#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/vpcap/xspace_fields.h"
#include "trace/read/xspace/xs_part.h"

/* ---- Start of a section ---- */

/* A chain of this many events is accepted, and used from its end, because its first links may be
 * inside an event: stats within it have the tag of events. */
#define LINKS 64
/* Bytes that are examined, and the part of them in which the chain may begin. */
#define LOOK_AT (64u << 10)
#define BEGIN_IN (4u << 10)

/* End of the event at p; NULL: there is none, or it exceeds `end`. */
static const uint8_t *next_event(const uint8_t *p, const uint8_t *end)
{
    vp_pb r = {p + 1, end};
    uint64_t n;
    if (p == end || *p != XLINE_EVENTS_TAG || !vp_pb_varint(&r, &n) || n > (uint64_t)(end - r.p))
        return NULL;
    return r.p + n;
}

static const uint8_t *end_of_chain(const uint8_t *p, const uint8_t *end)
{
    for (unsigned i = 0; p && i < LINKS; i++)
        p = next_event(p, end);
    return p;
}

/* Guesses the start of a section near `from`. 1, or 0 if there is no evidence. */
static int guess_section_begin(xs_window *w, int64_t from, int64_t line_end, int64_t *begin)
{
    const uint8_t *p, *found = NULL;
    size_t have, n = line_end - from < LOOK_AT ? (size_t)(line_end - from) : LOOK_AT;
    int rc = xw_need(w, from, n, &p, &have);
    if (rc == VP_ECORRUPT)
        return 0;
    VP_TRY(rc);
    for (size_t i = 0; !found && i < BEGIN_IN && i < n; i++)
        found = end_of_chain(p + i, p + n);
    *begin = found ? from + (found - p) : -1;
    return found ? 1 : 0;
}

/* Start of the section at or after `from`. */
static int next_begin(xs_window *w, int64_t from, int64_t line_end, int64_t *begin)
{
    for (; from < line_end; from += XS_SECTION_BYTES) {
        int rc = guess_section_begin(w, from, line_end, begin);
        if (rc != 0)
            return rc < 0 ? rc : 0;
    }
    *begin = line_end;
    return 0;
}

/* ---- Scanning ---- */

static void head_put_text(char *to, uint16_t *to_n, vp_str text)
{
    *to_n = (uint16_t)(text.n < sizeof((xs_head *)0)->name ? text.n : sizeof((xs_head *)0)->name);
    memcpy(to, text.p, *to_n);
}

static void head_field(xs_head *h, const vp_pb_field *f)
{
    bool text = f->wire == VP_PB_LEN;
    if (f->number == XLINE_ID && !text) {
        h->has_id = true;
        h->id = (int64_t)f->u;
    } else if (f->number == XLINE_TIMESTAMP_NS && !text) {
        h->has_timestamp = true;
        h->timestamp_ns = (int64_t)f->u;
    } else if (f->number == XLINE_DISPLAY_NAME && f->data.n) {
        head_put_text(h->display, &h->display_n, f->data);
    } else if (f->number == XLINE_NAME && f->data.n && !h->name_n) {
        head_put_text(h->name, &h->name_n, f->data);
    }
}

void xs_head_add(xs_head *h, const xs_head *later)
{
    if (later->has_id)
        h->id = later->id;
    if (later->has_timestamp)
        h->timestamp_ns = later->timestamp_ns;
    h->has_id = h->has_id || later->has_id;
    h->has_timestamp = h->has_timestamp || later->has_timestamp;
    if (later->display_n)
        head_put_text(h->display, &h->display_n, (vp_str){later->display, later->display_n});
    if (!h->name_n)
        head_put_text(h->name, &h->name_n, (vp_str){later->name, later->name_n});
}

static int section_cut_at(xs_section *s, int64_t at)
{
    if (s->n && s->cuts[s->n - 1].end == at)
        return 0;
    VP_TRY(vp_grow(&s->cuts, &s->cap, s->n + 1, sizeof *s->cuts, SIZE_MAX / 32));
    s->cuts[s->n++] = (xs_cut){at, s->events};
    return 0;
}

/* Skips up to `max` events that begin before `stop`; returns their number. *p: after the last
 * one. */
static uint64_t skip_events(const uint8_t **p, const uint8_t *stop, const uint8_t *end,
                            uint64_t max)
{
    const uint8_t *q = *p;
    uint64_t n = 0;
    while (q < stop && n < max) {
        const uint8_t *next;
        if (end - q > 2 && q[0] == XLINE_EVENTS_TAG && q[1] < 0x80)
            next = q[1] > end - q - 2 ? NULL : q + 2 + q[1];
        else
            next = next_event(q, end);
        if (!next)
            break;
        q = next;
        n++;
    }
    *p = q;
    return n;
}

/* Scans the complete fields of [p, end) that begin before `stop`, and cuts when a run is large
 * enough; *cur: the end. at: offset of p in the source. */
static int walk_fields(xs_section *s, const uint8_t *p, const uint8_t *stop, const uint8_t *end,
                       int64_t at, const uint8_t **cur)
{
    *cur = p;
    while (*cur < stop) {
        xs_cut last = s->n ? s->cuts[s->n - 1] : (xs_cut){s->begin, 0};
        int64_t left = last.end + (int64_t)XS_PART_BYTES - (at + (*cur - p));
        const uint8_t *here = *cur,
                      *full = left < stop - here ? here + (left > 0 ? left : 0) : stop;
        s->events += skip_events(cur, full, end, XS_PART_EVENTS - (s->events - last.events));
        if (at + (*cur - p) - last.end >= (int64_t)XS_PART_BYTES ||
            s->events - last.events >= XS_PART_EVENTS) {
            VP_TRY(section_cut_at(s, at + (*cur - p)));
        } else if (*cur < full) {
            vp_pb r = {*cur, end};
            vp_pb_field f;
            if (*r.p == XLINE_EVENTS_TAG || vp_pb_next(&r, &f) <= 0)
                return 0; /* incomplete, or damaged */
            head_field(&s->head, &f);
            *cur = r.p;
        }
    }
    return 0;
}

/* Scans to the first field at or after `to`. */
static int section_walk_to(xs_section *s, xs_window *w, int64_t to)
{
    size_t want = 1;
    while (s->end < to) {
        const uint8_t *p, *cur;
        size_t have;
        int rc = xw_need(w, s->end, want, &p, &have);
        if (rc == VP_ECORRUPT)
            break;
        VP_TRY(rc);
        if ((int64_t)have > s->line_end - s->end)
            have = (size_t)(s->line_end - s->end);
        const uint8_t *stop = to - s->end < (int64_t)have ? p + (to - s->end) : p + have;
        VP_TRY(walk_fields(s, p, stop, p + have, s->end, &cur));
        if (cur == p && (int64_t)have >= s->line_end - s->end)
            break;
        s->end += cur - p;
        want = cur == p ? have * 2 : 1;
        if ((int64_t)want > s->line_end - s->end)
            want = (size_t)(s->line_end - s->end);
        if (want > VP_XPLANE_META_MAX)
            break;
        want = want ? want : 1;
    }
    s->damaged = s->end < to;
    return 0;
}

static int walk_guessed(xs_section *s, xs_window *w)
{
    int64_t to;
    s->begin = s->from;
    if (!s->first) {
        int rc = guess_section_begin(w, s->from, s->line_end, &s->begin);
        if (rc <= 0)
            return rc;
    }
    s->end = s->begin;
    VP_TRY(section_walk_to(s, w, s->to));
    if (!s->damaged) {
        VP_TRY(next_begin(w, s->to, s->line_end, &to));
        VP_TRY(section_walk_to(s, w, to));
    }
    return section_cut_at(s, s->end);
}

static void section_note_status(xs_section *s, int rc)
{
    s->status = rc;
    if (rc < 0)
        s->error = *vp_error_last();
}

void xs_section_walk(xs_section *s, xs_window *w)
{
    section_note_status(s, walk_guessed(s, w));
}

void xs_section_walk_from(xs_section *s, xs_window *w, int64_t begin)
{
    s->begin = s->end = begin;
    s->n = 0;
    s->events = 0;
    s->head = (xs_head){0};
    int rc = section_walk_to(s, w, s->line_end);
    section_note_status(s, rc < 0 ? rc : section_cut_at(s, s->end));
}

void xs_section_free(xs_section *s)
{
    vp_free(s->cuts);
    *s = (xs_section){0};
}
