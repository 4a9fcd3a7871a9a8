/* /api/v1/session/ID/event, …/search, …/range, …/marks: one event of a timeline, the next one of a
 * text, what a range adds up to, and where steps and findings lie. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/routes/routes.h"
#include "server/routes/site_query.h"
#include "server/routes/timeline_query.h"
#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/timeline/tl_range.h"
#include "trace/timeline/tl_slices.h"

#define LINKED_MAX 64u
#define RANGE_ROWS 100u
#define SEARCH_MAX 200u
/* Steps that are told: a minimap has no room for more. */
#define STEPS_MAX 20000u

static const struct {
    sink_attr attr;
    const char *key;
} attr_words[] = {
    {SINK_CORRELATION, "correlation"},
    {SINK_FLOW_OUT, "flow_out"},
    {SINK_FLOW_IN, "flow_in"},
    {SINK_STEP, "step"},
    {SINK_GROUP, "group"},
    {SINK_RUN, "run"},
    {SINK_MEM_DELTA, "memory_bytes"},
    {SINK_MEM_USED, "memory_used_bytes"},
    {SINK_MEM_FREE, "memory_free_bytes"},
    {SINK_MEM_RESERVED, "memory_reserved_bytes"},
    {SINK_MEM_DEVICE, "memory_device"},
};

static void put_text(vp_json *j, const char *key, vp_str s)
{
    if (s.n)
        vp_json_kstr(j, key, s);
}

static void put_known(vp_json *j, const char *key, int64_t v)
{
    if (v != SINK_UNKNOWN)
        vp_json_ki64(j, key, v);
}

/* Where an event lies and what it is called, for lists. */
static void put_place(vp_json *j, const tl_index *x, const tl_event *e)
{
    const tl_row *r = tl_row_of(x, e);
    char id[64];
    snprintf(id, sizeof id, "%" PRIu32 ".%" PRIu32 ".%" PRIu64, e->track, e->row, e->index);
    vp_json_kcstr(j, "id", id);
    vp_json_kstr(j, "name", tl_text(x, x->kinds[tl_kind_of(x, r, e->index)].name));
    vp_json_kstr(j, "track_name", tl_text(x, x->tracks[e->track].name));
    vp_json_kstr(j, "group_name", tl_text(x, x->groups[x->tracks[e->track].group].name));
    vp_json_ki64(j, "track", e->track);
    vp_json_ki64(j, "row", e->row);
    vp_json_ki64(j, "start_ps", tl_start(x, r, e->index));
    vp_json_ki64(j, "dur_ps", tl_dur(x, r, e->index));
}

static void put_kind(vp_json *j, const tl_index *x, const tl_kind *k)
{
    put_text(j, "long_name", vp_str_head(tl_text(x, k->long_name), 20000));
    put_text(j, "category", tl_text(x, k->category));
    put_text(j, "opcode", tl_text(x, k->opcode));
    put_text(j, "hlo_op", tl_text(x, k->hlo_op));
    put_text(j, "module", tl_text(x, k->module));
    put_text(j, "scope", tl_text(x, k->scope));
    put_text(j, "source", tl_text(x, k->source));
    put_text(j, "shape", tl_text(x, k->shape));
    put_known(j, "program_id", k->program_id);
    put_known(j, "bytes", k->bytes);
    put_known(j, "flops", k->flops);
    vp_json_ki64(j, "calls_of_kind", (int64_t)k->calls);
    vp_json_ki64(j, "total_of_kind_ps", k->total_ps);
    if (k->unfinished)
        vp_json_kbool(j, "unfinished", true);
}

/* The page of the op that an event is a call of, where the report is there and has one of its
 * name. */
static void put_op_link(vp_json *j, const timeline_asked *a, const http_req *rq, const tl_event *e)
{
    VP_CLEANUP(store_release) store_report *h = NULL;
    const tl_index *x = a->x;
    char link[80];
    if (!store_peek(&h, site_of(rq)->store, a->s, VP_GROUP_NAME))
        return;
    const vp_report *r = store_report_of(h);
    uint32_t kind = tl_kind_of(x, tl_row_of(x, e), e->index);
    size_t op = op_of_event(r, a->s->host_count > 1 ? a->s->hosts[a->host].name : NULL,
                            tl_text(x, x->groups[x->tracks[e->track].group].name),
                            tl_text(x, x->kinds[kind].name));
    if (op == r->op_count || !x->groups[x->tracks[e->track].group].has_ops)
        return;
    snprintf(link, sizeof link, "op?on=%" PRIu32 "&op=%016" PRIx64, r->ops[op].device,
             op_key(&r->ops[op]));
    vp_json_kcstr(j, "op_page", link);
    vp_json_kcstr(j, "op", r->ops[op].name);
    vp_json_ki64(j, "op_calls", r->ops[op].calls);
    vp_json_ki64(j, "op_self_ps", r->ops[op].self_ps);
}

static void put_attrs(vp_json *j, const tl_index *x, const tl_event *e)
{
    const tl_row *r = tl_row_of(x, e);
    vp_json_key(j, "args");
    vp_json_begin_object(j);
    for (size_t i = 0; i < sizeof attr_words / sizeof *attr_words; i++) {
        int64_t v = tl_attr(x, r, attr_words[i].attr, e->index);
        char text[24]; /* ids are above what a browser's numbers hold */
        snprintf(text, sizeof text, "%" PRId64, v);
        if (v != SINK_NO_VALUE)
            vp_json_kcstr(j, attr_words[i].key, text);
    }
    vp_json_end_object(j);
}

static void put_linked(vp_json *j, const tl_index *x, const tl_event *e)
{
    tl_event linked[LINKED_MAX];
    size_t n = tl_linked(linked, LINKED_MAX, x, e);
    vp_json_key(j, "linked");
    vp_json_begin_array(j);
    for (size_t i = 0; i < n; i++) {
        vp_json_begin_object(j);
        put_place(j, x, &linked[i]);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
}

/* The event around it, from which it was called. */
static void put_parent(vp_json *j, const tl_index *x, const tl_event *e)
{
    const tl_row *r = tl_row_of(x, e);
    if (!r->depth)
        return;
    uint64_t i = tl_first_from(x, r - 1, 0, tl_start(x, r, e->index) + 1);
    vp_json_key(j, "parent");
    vp_json_begin_object(j);
    put_place(j, x, &(tl_event){e->track, e->row - 1, i ? i - 1 : 0});
    vp_json_end_object(j);
}

int route_timeline_event(http_req *rq)
{
    VP_CLEANUP(timeline_drop) timeline_asked a = {0};
    tl_event e;
    vp_json j;
    vp_buf b;
    VP_TRY(timeline_ask(&a, rq));
    VP_TRY(timeline_event(&e, a.x, rq, "id"));
    const tl_row *r = tl_row_of(a.x, &e);
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    vp_json_init(&j, &b);
    vp_json_begin_object(&j);
    put_place(&j, a.x, &e);
    vp_json_ki64(&j, "lane", r->lane);
    vp_json_ki64(&j, "depth", r->depth);
    vp_json_ki64(&j, "events_of_row", (int64_t)r->count);
    put_kind(&j, a.x, &a.x->kinds[tl_kind_of(a.x, r, e.index)]);
    put_attrs(&j, a.x, &e);
    put_parent(&j, a.x, &e);
    put_linked(&j, a.x, &e);
    put_op_link(&j, &a, rq, &e);
    vp_json_end_object(&j);
    vp_buf_putc(&b, '\n');
    return http_json(rq, 200, &b);
}

/* ---- Search --------------------------------------------------------------------------------- */

/* `q`, and where to begin: behind the event `after`, before the event `before`, or at the time
 * `from`. */
int route_timeline_search(http_req *rq)
{
    VP_CLEANUP(timeline_drop) timeline_asked a = {0};
    const char *text = http_query(rq, "q"), *after = http_query(rq, "after");
    int64_t until;
    tl_event at;
    tl_found f;
    tl_query q = {.text = vp_str_of(text), .backwards = http_query(rq, "before") != NULL};
    vp_json j;
    vp_buf b;
    if (!q.text.n || q.text.n > SEARCH_MAX)
        return vp_fail(VP_EARG, "\"q\" is a text of 1 to %u bytes", SEARCH_MAX);
    VP_TRY(timeline_ask(&a, rq));
    VP_TRY(timeline_window(&q.at_ps, &until, a.x, rq));
    if (after || q.backwards) {
        VP_TRY(timeline_event(&at, a.x, rq, after ? "after" : "before"));
        q.after = &at;
    }
    VP_TRY(tl_find(&f, a.x, &q));
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    vp_json_init(&j, &b);
    vp_json_begin_object(&j);
    vp_json_ki64(&j, "total", (int64_t)f.total);
    vp_json_key(&j, "found");
    if (f.any) {
        vp_json_begin_object(&j);
        put_place(&j, a.x, &f.event);
        vp_json_end_object(&j);
    } else {
        vp_json_null(&j);
    }
    vp_json_end_object(&j);
    vp_buf_putc(&b, '\n');
    return http_json(rq, 200, &b);
}

/* ---- Ranges --------------------------------------------------------------------------------- */

static int put_range(vp_buf *b, const tl_index *x, const uint32_t *tracks, size_t n, int64_t from,
                     int64_t until)
{
    tl_range sums;
    vp_json j;
    VP_TRY(tl_range_of(&sums, x, tracks, n, from, until));
    vp_json_init(&j, b);
    vp_json_begin_object(&j);
    vp_json_ki64(&j, "from_ps", from);
    vp_json_ki64(&j, "to_ps", until);
    vp_json_ki64(&j, "tracks", (int64_t)n);
    vp_json_ki64(&j, "events", (int64_t)sums.events);
    vp_json_ki64(&j, "busy_ps", sums.busy_ps);
    vp_json_ki64(&j, "names", (int64_t)sums.count);
    vp_json_key(&j, "rows");
    vp_json_begin_array(&j);
    for (size_t i = 0; i < sums.count && i < RANGE_ROWS; i++) {
        const tl_sum_of_kind *k = &sums.kinds[i];
        vp_json_begin_object(&j);
        vp_json_kstr(&j, "name", tl_text(x, x->kinds[k->kind].name));
        put_text(&j, "scope", tl_text(x, x->kinds[k->kind].scope));
        vp_json_ki64(&j, "calls", (int64_t)k->calls);
        vp_json_ki64(&j, "total_ps", k->total_ps);
        vp_json_ki64(&j, "self_ps", k->self_ps);
        vp_json_end_object(&j);
    }
    vp_json_end_array(&j);
    vp_json_end_object(&j);
    tl_range_free(&sums);
    return vp_buf_putc(b, '\n');
}

/* Tracks of ops where there is a device, all others where there is none; or the one of `track`. */
static int range_tracks(uint32_t *out, size_t *n, const tl_index *x, const http_req *rq)
{
    const char *given = http_query(rq, "track");
    uint64_t one;
    bool ops = false;
    *n = 0;
    if (given && (!vp_str_to_u64(vp_str_of(given), &one) || one >= x->track_count))
        return vp_fail(VP_ENOTFOUND, "there is no such track");
    for (uint32_t i = 0; i < x->track_count; i++)
        ops = ops || (x->tracks[i].role == SINK_ROLE_OPS && x->tracks[i].count);
    for (uint32_t i = 0; i < x->track_count; i++)
        if (given ? i == one : !ops || x->tracks[i].role == SINK_ROLE_OPS)
            out[(*n)++] = i;
    return 0;
}

int route_timeline_range(http_req *rq)
{
    VP_CLEANUP(timeline_drop) timeline_asked a = {0};
    VP_CLEANUP(vp_free_ptr) uint32_t *tracks = NULL;
    int64_t from, until;
    size_t n;
    vp_buf b;
    VP_TRY(timeline_ask(&a, rq));
    VP_TRY(timeline_window(&from, &until, a.x, rq));
    tracks = vp_calloc((size_t)a.x->track_count + 1, sizeof *tracks);
    VP_NEED(tracks);
    VP_TRY(range_tracks(tracks, &n, a.x, rq));
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    int rc = put_range(&b, a.x, tracks, n, from, until);
    if (rc < 0) {
        vp_buf_free(&b);
        return rc;
    }
    return http_json(rq, 200, &b);
}

/* ---- Marks ---------------------------------------------------------------------------------- */

static void put_span(vp_json *j, int64_t from, int64_t until)
{
    vp_json_ki64(j, "start_ps", from);
    vp_json_ki64(j, "dur_ps", until > from ? until - from : 0);
}

static void put_steps(vp_json *j, const timeline_asked *a, const vp_report *r, const char *host)
{
    vp_json_key(j, "steps");
    vp_json_begin_array(j);
    for (size_t i = 0; i < r->steps.count && i < STEPS_MAX; i++) {
        const vp_step *s = &r->steps.list[i];
        int64_t start = timeline_time(a->x, r, host, s->start_ps);
        if (start == INT64_MIN)
            continue;
        vp_json_begin_object(j);
        put_known(j, "number", s->number);
        put_span(j, start, start + s->dur_ps);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
}

static void put_finding(vp_json *j, const timeline_asked *a, const vp_report *r, const char *host,
                        const vp_finding *f)
{
    for (size_t i = 0; i < f->where_count; i++) {
        const vp_place *at = &f->where[i];
        int64_t start = timeline_time(a->x, r, host, at->start_ps);
        int64_t end = timeline_time(a->x, r, host, at->end_ps);
        if (start == INT64_MIN || end == INT64_MIN ||
            (r->host_count > 1 && at->host && host && strcmp(at->host, host) != 0))
            continue;
        vp_json_begin_object(j);
        vp_json_kcstr(j, "id", f->id);
        vp_json_kcstr(j, "title", f->title);
        put_span(j, start, end);
        vp_json_end_object(j);
    }
}

static void put_marks(vp_buf *b, const timeline_asked *a, const vp_report *r)
{
    const char *host = r->host_count > 1 ? a->s->hosts[a->host].name : NULL;
    vp_json j;
    vp_json_init(&j, b);
    vp_json_begin_object(&j);
    put_steps(&j, a, r, host);
    vp_json_key(&j, "findings");
    vp_json_begin_array(&j);
    for (size_t i = 0; i < r->finding_count; i++)
        if (r->findings[i].status == VP_FIRED)
            put_finding(&j, a, r, host, &r->findings[i]);
    vp_json_end_array(&j);
    vp_json_end_object(&j);
    vp_buf_putc(b, '\n');
}

int route_timeline_marks(http_req *rq)
{
    VP_CLEANUP(timeline_drop) timeline_asked a = {0};
    VP_CLEANUP(store_release) store_report *h = NULL;
    vp_buf b;
    VP_TRY(timeline_ask(&a, rq));
    VP_TRY(site_report(&h, rq, a.c, a.s, VP_GROUP_NAME, VP_WHERE_DEVICE));
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    put_marks(&b, &a, store_report_of(h));
    return http_json(rq, 200, &b);
}
