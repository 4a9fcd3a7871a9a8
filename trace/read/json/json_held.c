/* Events at time 0 at the begin of a file, and what follows them. Profilers write 0 if they lost an
 * event's time. Whether 0 is a time shows only at the first event with another one, so these events
 * wait until then: their place in the file must not matter. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/bytes/byte_stream.h"
#include "trace/read/json/json_reader.h"

/* Events of these phases have a time of their own; that of metadata means nothing. */
static bool is_timed_phase(js_value ph)
{
    return ph.type == JS_STRING && ph.s.n && strchr("XBEbenSFTpiIR", *ph.s.p);
}

static bool is_number(js_value ts)
{
    return ts.type == JS_SCALAR || ts.type == JS_STRING;
}

static bool is_zero_time(js_value ts)
{
    int64_t ps;
    return is_number(ts) && js_us_to_ps(ts.s, 0, &ps) && !ps;
}

/* Keeps the order of the file: what follows a held event is held, too. */
static int held_add(cj_reader *r, vp_str text)
{
    cj_held *h = &r->held;
    VP_TRY(vp_grow(&h->v, &h->cap, h->n + 1, sizeof *h->v, VP_EVENTS_MAX));
    h->v[h->n] = (cj_held_event){h->text.n, text.n, r->event, r->byte};
    VP_TRY(vp_buf_put(&h->text, text.p, text.n));
    h->n++;
    return 0;
}

/* Processes the held events, or counts them as events without a time. */
static int held_release(cj_reader *r, bool no_time)
{
    cj_held *h = &r->held;
    int64_t event = r->event, byte = r->byte;
    h->over = true;
    if (!h->n)
        return 0;
    VP_TRY(vp_buf_pad(&h->text, ' ', RD_PAD)); /* the scanner may read past an event */
    for (size_t i = 0; i < h->n; i++) {
        const char *p = h->text.p + h->v[i].at, *after;
        cj_fields f;
        r->event = h->v[i].event;
        r->byte = h->v[i].byte;
        if (cj_event_fields(p, p + h->v[i].n, r->skip, &r->layout, &f, &after) != JS_CLOSE)
            continue; /* it was read once */
        if (no_time && is_timed_phase(f.v[CJ_PH])) {
            cj_note_no_time(r, &f);
            r->phased++;
        } else {
            VP_TRY(cj_event(r, &f));
        }
    }
    r->event = event;
    r->byte = byte;
    cj_held_free(h);
    return 0;
}

/* Holds an event until the first one with a time other than 0. *held: it is processed later. */
static int hold_event(cj_reader *r, const cj_fields *f, vp_str text, bool *held)
{
    int64_t base_us;
    js_value ts = f->v[CJ_TS];
    bool timed = f->any && is_timed_phase(f->v[CJ_PH]) && is_number(ts);
    if (!timed && !r->held.n)
        return 0;
    if (timed && !is_zero_time(ts))
        return held_release(r, js_time_base(ts.s, &base_us) && base_us);
    if (text.n > CJ_HELD_BYTES_MAX - r->held.text.n)
        return held_release(r, false);
    *held = true;
    return held_add(r, text);
}

int cj_held_finish(cj_reader *r)
{
    return held_release(r, false);
}

int cj_early_event(cj_reader *r, const cj_fields *f, vp_str text)
{
    bool held = false;
    VP_TRY(hold_event(r, f, text, &held));
    return held ? 0 : cj_event(r, f);
}
