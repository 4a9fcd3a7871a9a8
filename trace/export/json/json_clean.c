/* Repairs Trace Event JSON from browsers and profilers so that it imports into Perfetto without an
 * error. The top level is a small state machine over a window; json_value.c copies values. Every
 * event is buffered until it is complete, so the output is well-formed even if the input is
 * truncated. */
#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/mem.h"
#include "trace/export/export.h"
#include "trace/export/json/json_edit.h"
#include "trace/export/json/json_window.h"
#include "trace/export/shared/stream_out.h"
#include "trace/read/json/json_lex.h"

typedef enum state {
    AT_START,
    AT_FIRST,  /* before the events; the editor adds its own */
    AT_KEY,    /* in the top-level object, before a key or its end */
    AT_COLON,  /* after a key that is dropped */
    AT_EVENT,  /* in traceEvents or the bare array, before an event or its end */
    AT_RESYNC, /* after a broken event, searching for the next */
    AT_SKIP,   /* in a value that is dropped */
    AT_BEHIND, /* after the file's last event; the editor adds its own */
    AT_END,    /* the output is closed; the input is read to its end to detect damage */
} state;

typedef struct clean {
    rd_stream s; /* first member */
    ex_window w;
    vp_buf out;
    vp_buf text; /* of an event that is not a copy of the input */
    state state, after_skip, after_behind;
    ex_json_skipper skip;
    ex_clean_counts counts;
    ex_editor edit;
    unsigned resync;   /* matched characters of `},{` */
    uint64_t searched; /* bytes already searched for the end of a broken event */
    int64_t behind;    /* offset of data after the trace; -1: none */
    bool bare;         /* the input is an array without an enclosing object */
    bool any_key, any_events, in_events, any_event;
    bool edited; /* the editor's events at the start are written */
    bool apart;  /* `out` has the data before the events, which is returned first */
    bool added;  /* the editor's events at the end are written */
    bool judged; /* whether the input is complete */
    bool closed; /* `out` has the last data */
} clean;

enum { NEED_MORE = 0, GO_ON = 1 };

/* Limit for the total cost of events with unbalanced brackets. */
#define SEARCH_MAX (16 * (uint64_t)VP_JSON_EVENT_MAX)

/* White space and commas: between members and events commas are optional. */
static inline bool at_something(clean *c)
{
    ex_window *w = &c->w;
    while (w->p < w->end && (js_is_space(*w->p) || *w->p == ','))
        w->p++;
    return w->p < w->end;
}

static void clean_put_key_separator(clean *c)
{
    vp_buf_puts(&c->out, c->any_key ? "," : "{");
    c->any_key = true;
}

/* The events of the editor precede those of the file. */
static void add_events(clean *c)
{
    size_t before = c->out.n;
    if (c->edit.first && !c->edited && c->edit.first(c->edit.ctx, &c->out) < 0)
        c->out.status = vp_error_last()->code;
    c->edited = true;
    c->any_event = c->out.n > before;
}

static void open_events(clean *c)
{
    clean_put_key_separator(c);
    vp_buf_puts(&c->out, "\"traceEvents\":[");
    c->state = AT_FIRST;
    c->in_events = c->any_events = true;
    c->apart = c->edit.apart && !c->edited;
}

/* Ends the array of events; the rest is read in the state `after`. */
static void close_events(clean *c, state after)
{
    if (c->edit.behind && !c->added) {
        c->after_behind = after;
        c->state = AT_BEHIND;
        return;
    }
    vp_buf_putc(&c->out, ']');
    c->in_events = false;
    c->state = after;
}

static void clean_finish(clean *c)
{
    if (!c->any_events)
        open_events(c);
    if (c->state == AT_FIRST)
        add_events(c);
    c->apart = false;
    c->state = AT_END;
    if (c->in_events)
        close_events(c, AT_END);
}

static void skip_value(clean *c, state then)
{
    c->skip = (ex_json_skipper){0};
    c->after_skip = then;
    c->state = AT_SKIP;
}

static int64_t clean_position(const clean *c)
{
    return c->w.offset - (c->w.end - c->w.p);
}

static int clean_start(clean *c)
{
    ex_window *w = &c->w;
    size_t n = (size_t)(w->end - w->p);
    if (n < 3 && !w->over)
        return NEED_MORE;
    if (clean_position(c) == 0 && n >= 3 && VP_SAME(w->p, "\xef\xbb\xbf"))
        w->p += 3;
    if (!at_something(c))
        return NEED_MORE;
    if (*w->p != '{' && *w->p != '[') {
        vp_fail(VP_ECORRUPT, "neither an object nor an array of trace events");
        return vp_fail_at(VP_ECORRUPT, NULL, -1, clean_position(c));
    }
    c->bare = *w->p++ == '[';
    if (c->bare)
        open_events(c);
    else
        c->state = AT_KEY;
    return GO_ON;
}

/* A value that is kept, with its key. */
static int other_key(clean *c, vp_str key, const char *value)
{
    ex_window *w = &c->w;
    bool first = !c->any_key;
    size_t before = c->out.n;
    clean_put_key_separator(c);
    const char *p = key.p;
    ex_verdict v = EX_MORE;
    ex_clean_counts counts = c->counts; /* with the repairs of both, when both are complete */
    ex_json_value(&c->out, &p, key.p + key.n, NULL, &counts);
    vp_buf_putc(&c->out, ':');
    p = value;
    size_t whole = (size_t)(w->end - value);
    const char *limit = whole > VP_JSON_EVENT_MAX ? value + VP_JSON_EVENT_MAX : w->end;
    if (c->out.status >= 0)
        v = ex_json_value(&c->out, &p, limit, NULL, &counts);
    if (v == EX_KEPT) {
        c->counts = counts;
        w->p = p;
        return GO_ON;
    }
    c->any_key = !first;
    if (c->out.status >= 0)
        c->out.n = before;
    if (v == EX_MORE && whole <= VP_JSON_EVENT_MAX)
        return NEED_MORE;
    c->counts.keys++;
    w->p = value;
    skip_value(c, AT_KEY);
    return GO_ON;
}

/* The end of the string at p, or NULL if it is not in the window. */
static const char *string_end_in_window(const char *p, const char *end)
{
    ex_json_skipper s = {0};
    return ex_json_skip(&s, &p, end) ? p : NULL;
}

/* Keys whose values must be strings, or Perfetto refuses the file
 * (docs/reference/perfetto.md#importer-of-v52). */
static bool is_odd(vp_str key, char value)
{
    return value != '"' && vp_str_eq(key, VP_STR("\"systemTraceEvents\""));
}

static bool is_kept(vp_str key, char value)
{
    return !vp_str_eq(key, VP_STR("\"metadata\"")) && !is_odd(key, value);
}

/* The start of the value of the key at w->p, or NULL if the key's end is not in the window. */
static const char *find_key_value(const ex_window *w, const char **key_end)
{
    const char *p = string_end_in_window(w->p, w->end);
    bool colon = false;
    *key_end = p;
    while (p && p < w->end && (js_is_space(*p) || (*p == ':' && !colon)))
        colon |= *p++ == ':';
    return p;
}

static int at_key(clean *c)
{
    ex_window *w = &c->w;
    if (!at_something(c))
        return NEED_MORE;
    if (*w->p == '}') {
        w->p++;
        clean_finish(c);
        return GO_ON;
    }
    if (*w->p != '"') { /* not a key, so it is not part of the trace */
        c->counts.keys++;
        w->p++;
        return GO_ON;
    }
    const char *key_end, *p = find_key_value(w, &key_end);
    if ((p ? p : w->end) - w->p > (ptrdiff_t)VP_JSON_EVENT_MAX) {
        c->counts.keys++;
        skip_value(c, AT_COLON);
        return GO_ON;
    }
    if (!p || p == w->end)
        return NEED_MORE;
    vp_str key = {w->p, (size_t)(key_end - w->p)};
    bool events = vp_str_eq(key, VP_STR("\"traceEvents\""));
    if (!events && is_kept(key, *p))
        return other_key(c, key, p);
    c->counts.keys += is_odd(key, *p);
    w->p = p;
    if (events && *p == '[') {
        w->p++;
        open_events(c);
    } else {
        skip_value(c, AT_KEY);
    }
    return GO_ON;
}

static int at_colon(clean *c)
{
    ex_window *w = &c->w;
    while (w->p < w->end && (js_is_space(*w->p) || *w->p == ':'))
        w->p++;
    if (w->p == w->end)
        return NEED_MORE;
    skip_value(c, AT_KEY);
    return GO_ON;
}

/* The event at w->p, which ends before `behind` and is written as `text`. */
static int clean_keep_event(clean *c, const char *behind, vp_str text, const ex_fields *fields)
{
    size_t before = c->out.n;
    int kept = EX_KEPT;
    if (c->any_event)
        vp_buf_put(&c->out, ",\n", 2);
    if (c->edit.event)
        kept = c->edit.event(c->edit.ctx, &c->out, text, clean_position(c), fields);
    else
        vp_buf_str(&c->out, text);
    if (kept < 0)
        return kept;
    c->w.p = behind;
    if (kept == EX_KEPT) {
        c->any_event = true;
        c->counts.events++;
        return GO_ON;
    }
    c->out.n = before;
    c->counts.refused += kept == EX_USELESS;
    return GO_ON;
}

/* Something that is not an event; the next one may be. */
static int no_event(clean *c)
{
    c->counts.refused++;
    if (*c->w.p == '}' || *c->w.p == ':')
        c->w.p++;
    else
        skip_value(c, AT_EVENT);
    return GO_ON;
}

/* Skips a dropped event; p is how far it has been parsed. */
static int refuse_event(clean *c, ex_verdict v, const char *p, size_t whole)
{
    if (v == EX_MORE && whole <= VP_JSON_EVENT_MAX)
        return NEED_MORE;
    if (v == EX_MORE)
        skip_value(c, AT_EVENT);
    else
        c->w.p = p;
    if (v == EX_EMPTY)
        c->counts.empty++;
    else
        c->counts.refused++;
    return GO_ON;
}

/* The end of an invalid event with balanced brackets, which another event or the end of the array
 * must follow. EX_KEPT: *p is after it; EX_MORE: it may be after `end`; else *p is the position of
 * the decision. */
static ex_verdict find_broken_event_end(const char **p, const char *end)
{
    ex_json_skipper skip = {0};
    if (!ex_json_skip(&skip, p, end))
        return EX_MORE;
    const char *q = js_skip_space(*p, end, true);
    if (q < end && (*p)[-1] == '}' && *q == ',') {
        q = js_skip_space(q + 1, end, true);
        return q == end ? EX_MORE : *q == '{' || *q == ']' ? EX_KEPT : EX_BROKEN;
    }
    return q == end ? EX_MORE : (*p)[-1] == '}' && *q == ']' ? EX_KEPT : EX_BROKEN;
}

/* An event at w->p, scanned up to `limit`, that becomes invalid at `broken`. */
static int broken_event(clean *c, const char *broken, const char *limit)
{
    ex_window *w = &c->w;
    const char *p = w->p;
    ex_verdict v = c->searched < SEARCH_MAX ? find_broken_event_end(&p, limit) : EX_BROKEN;
    if (v == EX_MORE && limit == w->end && !w->over)
        return NEED_MORE;
    c->counts.refused++;
    if (v == EX_KEPT) {
        w->p = p;
        return GO_ON;
    }
    c->searched += (uint64_t)((v == EX_MORE ? limit : p) - w->p);
    w->p = broken;
    c->state = AT_RESYNC;
    c->resync = 0;
    return GO_ON;
}

/* The event at w->p, with its values scanned. */
static int clean_read_event(clean *c, const char *limit, size_t whole)
{
    const char *p = c->w.p;
    ex_fields fields;
    c->text.n = 0;
    ex_verdict v = ex_json_value(&c->text, &p, limit, &fields, &c->counts);
    vp_buf_reserve(&c->text, RD_PAD); /* the scan may continue */
    VP_TRY(c->text.status);
    if (v == EX_KEPT)
        return clean_keep_event(c, p, vp_buf_view(&c->text), &fields);
    return v == EX_BROKEN ? broken_event(c, p, limit) : refuse_event(c, v, p, whole);
}

/* One element of the array at w->p, which is not its end. */
static int clean_one_event(clean *c)
{
    const char *p = c->w.p;
    size_t whole = (size_t)(c->w.end - p);
    const char *limit = whole > VP_JSON_EVENT_MAX ? p + VP_JSON_EVENT_MAX : c->w.end;
    ex_fields fields;
    if (*p != '{')
        return no_event(c);
    ex_verdict v = c->edit.glance                      ? ex_json_glance(&p, limit, &fields)
                   : ex_json_plain(&p, limit, &fields) ? EX_KEPT
                                                       : EX_BROKEN;
    if (v == EX_KEPT)
        return clean_keep_event(c, p, (vp_str){c->w.p, (size_t)(p - c->w.p)}, &fields);
    if (v == EX_EMPTY) {
        c->w.p = p;
        return GO_ON;
    }
    /* Which of both scans is used must not depend on the end of the chunk. */
    if (v == EX_MORE && whole <= VP_JSON_EVENT_MAX && !c->w.over)
        return NEED_MORE;
    return clean_read_event(c, limit, whole);
}

static int at_event(clean *c)
{
    while (c->state == AT_EVENT && !ex_out_full(&c->out) && c->out.status >= 0) {
        if (!at_something(c))
            return NEED_MORE;
        if (*c->w.p == ']') {
            c->w.p++;
            close_events(c, c->bare ? AT_END : AT_KEY);
            return GO_ON;
        }
        int rc = clean_one_event(c);
        if (rc != GO_ON)
            return rc;
    }
    return GO_ON;
}

/* If brackets are unbalanced, the next event begins at a `{` after `},`. A `]` before it may belong
 * to the broken event, so it does not end the array: events after it are worth more than keys after
 * it. */
static int at_resync(clean *c)
{
    ex_window *w = &c->w;
    for (; w->p < w->end; w->p++) {
        char b = *w->p;
        if (js_is_space(b))
            continue;
        if (c->resync == 2 && b == '{') {
            c->state = AT_EVENT;
            return GO_ON;
        }
        c->resync = b == '}' ? 1 : b == ',' && c->resync == 1 ? 2 : 0;
    }
    return NEED_MORE;
}

static int at_behind(clean *c)
{
    int rc = c->edit.behind(c->edit.ctx, &c->out, &c->any_event);
    if (!rc) {
        c->added = true;
        close_events(c, c->after_behind);
    }
    return rc < 0 ? rc : GO_ON;
}

/* Data after the trace is read, because it may contain checksums; after a premature end it may
 * contain events. */
static int clean_at_end(clean *c)
{
    ex_window *w = &c->w;
    if (c->behind < 0) {
        w->p = js_skip_space(w->p, w->end, true);
        c->behind = w->p < w->end ? clean_position(c) : -1;
    }
    w->p = w->end;
    return NEED_MORE;
}

static int clean_step(clean *c)
{
    switch (c->state) {
    case AT_START:
        return clean_start(c);
    case AT_FIRST:
        add_events(c);
        c->state = AT_EVENT;
        return GO_ON;
    case AT_KEY:
        return at_key(c);
    case AT_COLON:
        return at_colon(c);
    case AT_EVENT:
        return at_event(c);
    case AT_RESYNC:
        return at_resync(c);
    case AT_BEHIND:
        return at_behind(c);
    case AT_SKIP:
        if (!ex_json_skip(&c->skip, &c->w.p, c->w.end))
            return NEED_MORE;
        c->state = c->after_skip;
        return GO_ON;
    default:
        return clean_at_end(c);
    }
}

/* Writes the result of the file's own checksums, which the output would otherwise lose. Importers
 * skip unknown keys. */
static void clean_put_damage(clean *c, const vp_error *damage)
{
    if (!damage->code)
        return;
    vp_buf_puts(&c->out, ",\"view_profile_damage\":");
    vp_json_quote(&c->out, vp_str_of(damage->message));
}

/* Damage found in this file. */
static void clean_add_damage(clean *c, const char *what, int64_t at)
{
    vp_fail(VP_ECORRUPT, "%s", what);
    vp_fail_at(VP_ECORRUPT, NULL, (int64_t)c->counts.events, at);
    c->s.damage = *vp_error_last();
}

/* Ends the input. A bare array needs no end (docs/reference/perfetto.md#json-container); anything
 * else is truncated. */
static void clean_check_end(clean *c)
{
    bool whole = c->state == AT_END || (c->state == AT_EVENT && c->bare && c->w.p == c->w.end);
    rd_stream *in = c->w.in;
    if (in->damage.code < 0)
        c->s.damage = in->damage;
    else if (!whole)
        clean_add_damage(c, "the file is truncated; closed after its last complete event",
                         c->w.offset);
    else if (c->behind >= 0)
        clean_add_damage(c, "the file has data after the end of the trace", c->behind);
    c->judged = true;
}

static void close_input(clean *c)
{
    if (!c->judged)
        clean_check_end(c);
    c->w.p = c->w.end;
    if (c->state != AT_END)
        clean_finish(c);
    if (c->state != AT_END)
        return; /* the editor's events come first */
    if (c->edit.last)
        c->edit.last(c->edit.ctx, &c->out, &c->counts);
    clean_put_damage(c, c->behind >= 0 ? &c->s.damage : &c->w.in->damage);
    vp_buf_puts(&c->out, "}\n");
    c->closed = true;
}

static int read_more(clean *c)
{
    int rc = ex_window_more(&c->w);
    c->s.raw_done = c->w.in->raw_done;
    c->s.raw_total = c->w.in->raw_total;
    return rc;
}

/* 1; 0: nothing to do before byte `until` of the input was read. */
static int make_chunk(clean *c, int64_t until)
{
    while (!c->closed && !c->apart && !ex_out_full(&c->out)) {
        if (c->w.offset >= until)
            return 0;
        int rc = clean_step(c);
        if (rc == NEED_MORE && c->w.over)
            close_input(c);
        else if (rc == NEED_MORE)
            rc = read_more(c); /* at the end of the input one more step is needed */
        if (rc < 0)
            return rc;
        if (c->out.status < 0)
            return c->out.status;
    }
    return 1;
}

static int clean_next(rd_stream *s, char **p, size_t *n)
{
    clean *c = (clean *)(void *)s;
    ex_out_reset(&c->out);
    c->apart = false;
    VP_TRY(make_chunk(c, INT64_MAX));
    return ex_out_chunk(&c->out, p, n);
}

static void clean_close(rd_stream *s)
{
    clean *c = (clean *)(void *)s;
    ex_window_free(&c->w);
    vp_buf_free(&c->out);
    vp_buf_free(&c->text);
    vp_free(c);
}

int ex_json_edited(rd_stream **out, rd_stream *in, const ex_editor *edit)
{
    clean *c = vp_calloc(1, sizeof *c);
    if (!c) {
        rd_stream_close(&in);
        return vp_no_memory();
    }
    c->s = (rd_stream){.next = clean_next,
                       .close = clean_close,
                       .total = -1,
                       .raw_done = in->raw_done,
                       .raw_total = in->raw_total};
    c->behind = -1;
    vp_buf_init(&c->text, 4 * (size_t)VP_JSON_EVENT_MAX);
    int rc = ex_window_init(&c->w, in);
    if (rc >= 0)
        rc = ex_out_init(&c->out);
    if (rc < 0) {
        clean_close(&c->s);
        return rc;
    }
    if (edit)
        c->edit = *edit;
    *out = &c->s;
    return 0;
}

int ex_json_clean(rd_stream **out, rd_stream *in)
{
    return ex_json_edited(out, in, NULL);
}

int ex_json_run(rd_stream *s, int64_t until)
{
    clean *c = (clean *)(void *)s;
    int rc = 1;
    while (rc > 0 && !c->closed) {
        rc = make_chunk(c, until);
        ex_out_reset(&c->out);
    }
    return rc;
}

void ex_json_clean_counts(const rd_stream *s, ex_clean_counts *out)
{
    *out = ((const clean *)(const void *)s)->counts;
}
