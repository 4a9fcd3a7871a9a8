#include "trace/read/json/chrome_json.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/json/json_workers.h"
#include "trace/read/json/json_reader.h"
#include "trace/read/json/json_walk.h"

/* An object at the top level of a file is an event (one per line) if it ends within this many bytes
 * and has a phase; else it is the container. */
#define TOP_EVENT_MAX (32u << 10)

typedef enum doc_state {
    DOC_TOP,          /* at the top level */
    DOC_OBJECT,       /* in the container, before a key */
    DOC_EVENTS_VALUE, /* after "traceEvents": */
    DOC_BASE_VALUE,   /* after "baseTimeNanoseconds": */
    DOC_MODELS_VALUE, /* after "deviceProperties": */
    DOC_EVENTS,       /* in the array of events */
    DOC_JUNK,         /* in an array element that is not an event, or too large for one */
    DOC_DONE,         /* after the end, if more text follows */
} doc_state;

typedef struct doc {
    cj_reader r;
    doc_state state;
    bool in_object; /* the array belongs to a container */
    js_walk walk;   /* of the container */
    js_walk junk;
    const char *at, *end; /* the text being read */
    bool last;            /* nothing follows `end` */
    const char *origin;   /* the byte at `offset` in the file */
    int64_t offset;
    int64_t events;      /* objects in event arrays so far */
    int64_t trailing_at; /* first byte after the end of the document, or -1 */
    char *tail;          /* unconsumed bytes, kept for the next chunk */
    size_t tail_n, tail_cap;
    size_t need; /* length that the tail must reach before it is scanned again */
} doc;

static int64_t doc_file_offset(const doc *d)
{
    return d->offset + (d->at - d->origin);
}

/* Notes that an element of the event array is not used. */
static void leave_out(doc *d, cj_note_id why)
{
    d->r.event = d->events++;
    d->r.byte = doc_file_offset(d);
    cj_note(&d->r, why);
}

/* Processes the event that begins at d->at. */
static int read_fields(doc *d, const cj_fields *f, const char *end)
{
    d->r.event = d->events++;
    d->r.byte = doc_file_offset(d);
    return d->r.held.over ? cj_event(&d->r, f)
                          : cj_early_event(&d->r, f, (vp_str){d->at, (size_t)(end - d->at)});
}

static void start_junk(doc *d, cj_note_id why)
{
    leave_out(d, why);
    d->junk = (js_walk){.key_depth = -1};
    d->state = DOC_JUNK;
}

/* Every step returns 1: continue; 0: more bytes are needed; < 0: failed. */
static int step_event(doc *d)
{
    cj_fields f;
    const char *after;
    js_step step = cj_event_fields(d->at, d->end, d->r.skip, &d->r.layout, &f, &after);
    if (step == JS_BAD)
        after = d->r.skip(d->at, d->end);
    if (step == JS_MORE || !after) {
        if (d->end - d->at <= (ptrdiff_t)VP_JSON_EVENT_MAX)
            return 0;
        start_junk(d, CJ_OVERSIZED);
        return 1;
    }
    if (after - d->at > (ptrdiff_t)VP_JSON_EVENT_MAX)
        leave_out(d, CJ_OVERSIZED);
    else if (step == JS_BAD)
        leave_out(d, CJ_BAD_EVENT);
    else
        VP_TRY(read_fields(d, &f, after));
    d->at = after;
    return 1;
}

static int step_events(doc *d)
{
    d->at = js_skip_line(d->at, d->end, true);
    if (d->at == d->end)
        return 0;
    switch (*d->at) {
    case '{':
        return step_event(d);
    case ',':
        d->at++;
        return 1;
    case ']':
        d->at++;
        d->state = d->in_object ? DOC_OBJECT : DOC_TOP;
        return 1;
    case '}':
        leave_out(d, CJ_BAD_EVENT);
        d->at++;
        return 1;
    default:
        start_junk(d, CJ_BAD_EVENT);
        return 1;
    }
}

static int step_junk(doc *d)
{
    if (js_walk_on(&d->junk, &d->at, d->end) == JS_WALK_MORE)
        return 0;
    d->state = DOC_EVENTS;
    return 1;
}

static int step_top_object(doc *d)
{
    const char *limit = d->end, *after;
    cj_fields f;
    if (d->end - d->at > (ptrdiff_t)TOP_EVENT_MAX)
        limit = d->at + TOP_EVENT_MAX;
    else if (!d->last)
        return 0;
    js_step step = cj_event_fields(d->at, limit, d->r.skip, &d->r.layout, &f, &after);
    if (step == JS_CLOSE && f.v[CJ_PH].type == JS_STRING && !f.container) {
        VP_TRY(read_fields(d, &f, after));
        d->at = after;
        return 1;
    }
    d->walk = (js_walk){.key_depth = 1, .find_strings = true};
    d->state = DOC_OBJECT;
    return 1;
}

static int step_top(doc *d)
{
    static const char bom[] = "\xef\xbb\xbf";
    d->at = js_skip_space(d->at, d->end, true);
    if (d->at == d->end)
        return 0;
    if (*d->at == '{')
        return step_top_object(d);
    if (doc_file_offset(d) == 0 && *d->at == *bom) {
        if (d->end - d->at < 3 && !d->last)
            return 0;
        if (d->end - d->at >= 3 && !memcmp(d->at, bom, 3)) {
            d->at += 3;
            return 1;
        }
    }
    if (*d->at == '[') {
        d->in_object = false;
        d->state = DOC_EVENTS;
    } else if (*d->at != ',') {
        d->trailing_at = doc_file_offset(d);
        d->state = DOC_DONE;
    }
    d->at++;
    return 1;
}

static int step_object(doc *d)
{
    vp_str key;
    switch (js_walk_on(&d->walk, &d->at, d->end)) {
    case JS_WALK_MORE:
        return 0;
    case JS_WALK_KEY:
        key = js_walk_key(&d->walk);
        if (vp_str_eq(key, VP_STR("traceEvents")))
            d->state = DOC_EVENTS_VALUE;
        else if (vp_str_eq(key, VP_STR("baseTimeNanoseconds")))
            d->state = DOC_BASE_VALUE;
        else if (vp_str_eq(key, VP_STR("deviceProperties")))
            d->state = DOC_MODELS_VALUE;
        return 1;
    case JS_WALK_FOUND:
        key = js_walk_key(&d->walk);
        d->r.byte = doc_file_offset(d);
        if (js_names_a_secret(key))
            VP_TRY(cj_note_credential(&d->r, key));
        return 1;
    case JS_WALK_CLOSE:
    case JS_WALK_DELIM:
        break;
    }
    d->state = DOC_TOP;
    return 1;
}

static int step_events_value(doc *d)
{
    d->at = js_skip_space(d->at, d->end, true);
    if (d->at == d->end)
        return 0;
    d->state = DOC_OBJECT;
    if (*d->at == '[') {
        d->at++;
        d->walk.after_key = false;
        d->in_object = true;
        d->state = DOC_EVENTS;
    }
    return 1;
}

static int step_base_value(doc *d)
{
    int64_t ns;
    d->at = js_skip_space(d->at, d->end, true);
    const char *p = d->at;
    while (p < d->end && ((*p >= '0' && *p <= '9') || *p == '-'))
        p++;
    if (p == d->end && !d->last && p - d->at < 32)
        return 0;
    if (vp_str_to_i64((vp_str){d->at, (size_t)(p - d->at)}, &ns))
        d->r.base_ns = ns;
    d->at = p;
    d->state = DOC_OBJECT;
    return 1;
}

/* deviceProperties: read if it is an array of plausible size; else left to the walk. */
static int step_models_value(doc *d)
{
    d->at = js_skip_space(d->at, d->end, true);
    if (d->at == d->end)
        return 0;
    const char *after = *d->at == '[' ? d->r.skip(d->at, d->end) : NULL;
    if (*d->at == '[' && !after && !d->last && d->end - d->at <= (ptrdiff_t)TOP_EVENT_MAX * 8)
        return 0;
    d->state = DOC_OBJECT;
    if (!after)
        return 1;
    d->walk.after_key = false;
    VP_TRY(cj_models(&d->r, (vp_str){d->at, (size_t)(after - d->at)}));
    d->at = after;
    return 1;
}

static int step_done(doc *d)
{
    d->at = d->end;
    return 0;
}

/* Reads [p, p+n) as far as possible; d->at is the end. */
static int read_bytes(doc *d, const char *p, size_t n, bool last)
{
    static int (*const steps[])(doc *) = {
        [DOC_TOP] = step_top,
        [DOC_OBJECT] = step_object,
        [DOC_EVENTS_VALUE] = step_events_value,
        [DOC_BASE_VALUE] = step_base_value,
        [DOC_MODELS_VALUE] = step_models_value,
        [DOC_EVENTS] = step_events,
        [DOC_JUNK] = step_junk,
        [DOC_DONE] = step_done,
    };
    int rc;
    d->at = d->origin = p;
    d->end = p + n;
    d->last = last;
    do
        rc = steps[d->state](d);
    while (rc > 0);
    return rc;
}

static int append_tail(doc *d, const char *p, size_t n)
{
    VP_TRY(vp_grow(&d->tail, &d->tail_cap, d->tail_n + n + RD_PAD, 1,
                   2 * (size_t)VP_JSON_EVENT_MAX + n + RD_HEADROOM));
    if (n)
        memcpy(d->tail + d->tail_n, p, n);
    d->tail_n += n;
    memset(d->tail + d->tail_n, 0, RD_PAD);
    return 0;
}

/* Keeps the unconsumed bytes. They are scanned again only when they have doubled, so that an event
 * that arrives in small pieces costs at most twice its length. */
static int keep_rest(doc *d, bool in_tail)
{
    size_t n = (size_t)(d->end - d->at);
    d->offset = doc_file_offset(d);
    d->need = 2 * n;
    if (in_tail)
        memmove(d->tail, d->at, n);
    d->tail_n = in_tail ? n : 0;
    return in_tail ? append_tail(d, NULL, 0) : append_tail(d, d->at, n);
}

/* Reads the next chunk; the bytes before it may be overwritten (RD_HEADROOM). */
static int doc_feed_chunk(doc *d, char *p, size_t n)
{
    bool in_tail = d->tail_n > RD_HEADROOM;
    if (d->tail_n + n < d->need)
        return append_tail(d, p, n);
    if (in_tail) {
        VP_TRY(append_tail(d, p, n));
        p = d->tail;
        n = d->tail_n;
    } else if (d->tail_n) {
        p -= d->tail_n;
        memcpy(p, d->tail, d->tail_n);
        n += d->tail_n;
    }
    VP_TRY(read_bytes(d, p, n, false));
    return keep_rest(d, in_tail);
}

/* Reads the events that were found in a piece. */
static int take_found(doc *d, const cj_piece *p)
{
    d->origin = p->text + p->from;
    for (size_t i = 0; i < p->count; i++) {
        d->at = p->found[i].at;
        const char *end = i + 1 < p->count ? p->found[i + 1].at : p->text + p->to;
        VP_TRY(read_fields(d, &p->found[i].f, end));
    }
    d->at = p->text + p->to;
    d->offset = doc_file_offset(d);
    d->origin = d->at;
    return 0;
}

/* Sets the text that events begin with, from the current incomplete event. */
static void show_first(const doc *d, cj_workers *workers)
{
    const char *p = d->tail + 1;
    vp_str key;
    if (d->state == DOC_EVENTS && d->tail_n && *d->tail == '{' &&
        js_next_key(&p, d->tail + d->tail_n, &key) == JS_MEMBER)
        cj_workers_learn(workers, (vp_str){d->tail, (size_t)(p - d->tail)});
}

/* Reads the next piece. The events found in it are used only if reading everything before arrives
 * at the first of them; otherwise reading continues normally. */
static int feed_piece(doc *d, cj_workers *workers, const cj_piece *p)
{
    size_t used = 0;
    bool proved = false;
    if (p->count && d->state == DOC_EVENTS && d->tail_n <= RD_HEADROOM) {
        used = p->from;
        d->need = 0;
        VP_TRY(doc_feed_chunk(d, p->text, used));
        proved = d->state == DOC_EVENTS && !d->tail_n;
    }
    if (proved) {
        used = p->to;
        VP_TRY(take_found(d, p));
    }
    VP_TRY(doc_feed_chunk(d, p->text + used, p->n - used));
    if (!proved)
        show_first(d, workers);
    return 0;
}

static int report_progress(const doc *d, const rd_stream *in, int64_t done)
{
    const rd_options *o = d->r.opts;
    if (o->progress && o->progress(o->progress_ctx, done, in->raw_total))
        return vp_fail(VP_ECANCELLED, "cancelled");
    return 0;
}

static int read_pieces(doc *d, rd_stream *in)
{
    VP_CLEANUP(cj_workers_free) cj_workers *workers = NULL;
    cj_piece *p;
    int rc;
    VP_TRY(cj_workers_new(&workers, in, d->r.opts->threads));
    while ((rc = cj_workers_next(workers, &p)) > 0) {
        VP_TRY(feed_piece(d, workers, p));
        VP_TRY(report_progress(d, in, p->raw_done));
    }
    return rc;
}

static int read_chunks(doc *d, rd_stream *in)
{
    char *p;
    size_t n;
    int rc;
    while ((rc = in->next(in, &p, &n)) > 0) {
        VP_TRY(doc_feed_chunk(d, p, n));
        VP_TRY(report_progress(d, in, in->raw_done));
    }
    return rc;
}

static int doc_read_all(doc *d, rd_stream *in)
{
    VP_TRY((cj_workers_fits(in, d->r.opts->threads) ? read_pieces : read_chunks)(d, in));
    VP_TRY(append_tail(d, NULL, 0));
    return read_bytes(d, d->tail, d->tail_n, true);
}

/* Fails with the reason why the file has no event. */
static int doc_refuse(const doc *d, const rd_stream *in)
{
    if (in->damage.code)
        return vp_fail_copy(&in->damage);
    if (d->trailing_at >= 0) {
        vp_fail(VP_ECORRUPT, "not valid JSON");
        return vp_fail_at(VP_ECORRUPT, NULL, -1, d->trailing_at);
    }
    if (d->state != DOC_TOP || d->at != d->end) {
        vp_fail(VP_ECORRUPT, "the file ends before the first event");
        return vp_fail_at(VP_ECORRUPT, NULL, -1, doc_file_offset(d) + (d->end - d->at));
    }
    return vp_fail(VP_EEMPTY, "valid JSON, but no trace events");
}

static int report_end(doc *d, const rd_stream *in)
{
    sink_quality q = {.code = "truncated",
                      .severity = SINK_WARNING,
                      .event = d->events,
                      .byte = doc_file_offset(d),
                      .partial = true};
    bool in_event = d->at != d->end || d->state == DOC_JUNK;
    if (in->damage.code)
        return cj_quality(&d->r, &q, "%s; events before it are shown", in->damage.message);
    if (d->trailing_at >= 0) {
        q = (sink_quality){.code = "trailing-data", .event = -1, .byte = d->trailing_at};
        return cj_quality(&d->r, &q, "trailing garbage after the JSON document; ignored");
    }
    if (in_event)
        return cj_quality(&d->r, &q, "the file ends inside an event; events before it are shown");
    if (d->state == DOC_EVENTS && d->in_object)
        return cj_quality(&d->r, &q, "the file ends inside the list of events");
    q.partial = false;
    q.event = -1;
    if (d->state == DOC_EVENTS) {
        q.severity = SINK_INFO;
        return cj_quality(&d->r, &q, "the list of events is not closed, which the format allows");
    }
    return d->state == DOC_TOP ? 0
                               : cj_quality(&d->r, &q, "the file ends after the list of events");
}

/* XLA truncates its JSON at 1,000,000 events, since 2026 at 5,000,000
 * (docs/reference/xprof.md#trace-json). */
static int report_cap(doc *d)
{
    int64_t n = d->r.complete;
    sink_quality q = {
        .code = "capped", .severity = SINK_WARNING, .event = -1, .byte = -1, .partial = true};
    if (!d->r.is_xla || (n != 1000000 && n < 5000000))
        return 0;
    return cj_quality(&d->r, &q,
                      "%lld events, the limit of XLA's trace.json: later events may be missing; "
                      "the xplane.pb in the same directory is complete",
                      (long long)n);
}

static int report_cpu_ops(doc *d)
{
    sink_quality q = {.code = "cpu-async-unjoined", .event = -1, .byte = -1, .partial = true};
    if (!d->r.has_cpu_ops)
        return 0;
    return cj_quality(&d->r, &q,
                      "trace.json has no link from asynchronous CPU ops to their ends, so their "
                      "times end at the launch; the xplane.pb in the same directory has the links");
}

/* Reports relative time 0, in the file's own time and in Unix time. Kineto states the latter; times
 * in µs since 1970 that are after 2001 are Unix time themselves. */
static void report_base(cj_reader *r)
{
    bool epoch = r->base_us >= INT64_C(1000000000000000) && r->base_us < INT64_C(5000000000000000);
    int64_t ns;
    if (r->extent_first_ps <= r->extent_last_ps && r->out->extent)
        r->out->extent(r->out, r->extent_first_ps, r->extent_last_ps);
    if (!r->has_base || __builtin_mul_overflow(r->base_us, INT64_C(1000), &ns))
        return;
    if (r->out->origin)
        r->out->origin(r->out, ns);
    if (!epoch && (r->base_ns == SINK_NO_TIME || __builtin_add_overflow(ns, r->base_ns, &ns)))
        return;
    r->out->base(r->out, ns);
}

static int doc_finish(doc *d, const rd_stream *in)
{
    VP_TRY(cj_held_finish(&d->r));
    if (!d->r.phased)
        return doc_refuse(d, in);
    VP_TRY(cj_spans_finish(&d->r));
    VP_TRY(cj_flush(&d->r));
    VP_TRY(cj_tracks_finish(&d->r));
    VP_TRY(cj_notes_report(&d->r));
    VP_TRY(report_cap(d));
    VP_TRY(report_cpu_ops(d));
    report_base(&d->r);
    return report_end(d, in);
}

static void doc_free(doc **d)
{
    if (!*d)
        return;
    cj_reader_free(&(*d)->r);
    vp_free((*d)->tail);
    vp_free(*d);
}

int cj_read(sink *out, rd_stream *in, const rd_options *opts)
{
    static const rd_options none = {0};
    VP_CLEANUP(doc_free) doc *d = vp_calloc(1, sizeof *d);
    VP_NEED(d);
    d->trailing_at = -1;
    VP_TRY(cj_reader_init(&d->r, out, opts ? opts : &none));
    VP_TRY(doc_read_all(d, in));
    return doc_finish(d, in);
}
