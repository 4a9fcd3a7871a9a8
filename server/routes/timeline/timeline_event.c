/* /api/v1/session/ID/event, …/search, …/marks: one event of a timeline, the next match of a text,
 * and the times of steps and findings. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/routes/routes.h"
#include "server/routes/site/site_query.h"
#include "server/routes/timeline/timeline_query.h"
#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/limits.h"
#include "trace/timeline/tl_slices.h"

#define LINKED_MAX 64u
#define SEARCH_MAX 200u

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

static void put_text_if_any(vp_json *j, const char *key, vp_str s)
{
    if (s.n)
        vp_json_kstr(j, key, s);
}

static void put_i64_if_known(vp_json *j, const char *key, int64_t v)
{
    if (v != SINK_UNKNOWN)
        vp_json_ki64(j, key, v);
}

/* The position and name of an event, for lists. */
static void put_event_place(vp_json *j, const tl_index *x, const tl_event *e)
{
    const tl_row *r = tl_row_of(x, e);
    char id[64];
    snprintf(id, sizeof id, "%" PRIu32 ".%" PRIu32 ".%" PRIu64, x->first_track + e->track, e->row,
             e->index);
    vp_json_kcstr(j, "id", id);
    vp_json_kstr(j, "name", tl_text(x, x->kinds[tl_kind_of(r, e->index)].name));
    vp_json_kstr(j, "track_name", tl_text(x, x->tracks[e->track].name));
    vp_json_kstr(j, "group_name", tl_text(x, x->groups[x->tracks[e->track].group].name));
    vp_json_ki64(j, "track", x->first_track + e->track);
    vp_json_ki64(j, "row", e->row);
    vp_json_ki64(j, "start_ps", tl_start(r, e->index));
    vp_json_ki64(j, "dur_ps", tl_dur(r, e->index));
    timeline_put_whole(j, "exact_start_ps", tl_start(r, e->index));
    timeline_put_whole(j, "exact_dur_ps", tl_dur(r, e->index));
}

static void put_event_kind(vp_json *j, const tl_index *x, const tl_kind *k)
{
    put_text_if_any(j, "long_name", vp_str_head(tl_text(x, k->long_name), 20000));
    put_text_if_any(j, "category", tl_text(x, k->category));
    put_text_if_any(j, "opcode", tl_text(x, k->opcode));
    put_text_if_any(j, "hlo_op", tl_text(x, k->hlo_op));
    put_text_if_any(j, "module", tl_text(x, k->module));
    put_text_if_any(j, "operator", tl_text(x, k->op_inner));
    put_text_if_any(j, "outermost_operator", tl_text(x, k->op_outer));
    put_text_if_any(j, "scope", tl_text(x, k->scope));
    put_text_if_any(j, "source", tl_text(x, k->source));
    put_text_if_any(j, "shape", tl_text(x, k->shape));
    put_i64_if_known(j, "program_id", k->program_id);
    put_i64_if_known(j, "bytes", k->bytes);
    put_i64_if_known(j, "flops", k->flops);
    if (k->unfinished)
        vp_json_kbool(j, "unfinished", true);
}

/* The page of the op with this name, if the report is available and contains it. */
static void put_op_link(vp_json *j, const timeline_asked *a, const http_req *rq, vp_str device,
                        vp_str name, bool exact)
{
    VP_CLEANUP(store_release) store_report *h = NULL;
    char link[80];
    if (!store_peek(&h, site_of(rq)->store, a->s, VP_GROUP_NAME))
        return;
    const vp_report *r = store_report_of(h);
    size_t op = op_of_event(r, a->s->host_count > 1 ? a->s->hosts[a->host].name : NULL, device,
                            name, exact);
    if (op == r->op_count)
        return;
    snprintf(link, sizeof link, "op?on=%" PRIu32 "&op=%016" PRIx64, r->ops[op].device,
             op_key(&r->ops[op]));
    vp_json_kcstr(j, "op_page", link);
    vp_json_kcstr(j, "op", r->ops[op].name);
    vp_json_ki64(j, "op_calls", r->ops[op].calls);
    vp_json_ki64(j, "op_self_ps", r->ops[op].self_ps);
}

static void put_event_attrs(vp_json *j, const tl_index *x, const tl_event *e)
{
    const tl_row *r = tl_row_of(x, e);
    vp_json_key(j, "args");
    vp_json_begin_object(j);
    for (size_t i = 0; i < sizeof attr_words / sizeof *attr_words; i++) {
        int64_t v = tl_attr(x, r, attr_words[i].attr, e->index);
        if (v != SINK_NO_VALUE)
            timeline_put_whole(j, attr_words[i].key, v);
    }
    vp_json_end_object(j);
}

static int put_linked(vp_json *j, const tl_index *x, const tl_event *e)
{
    tl_event linked[LINKED_MAX];
    size_t n;
    VP_TRY(tl_linked(linked, LINKED_MAX, &n, x, e));
    vp_json_key(j, "linked");
    vp_json_begin_array(j);
    for (size_t i = 0; i < n; i++) {
        vp_json_begin_object(j);
        put_event_place(j, x, &linked[i]);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
    return 0;
}

/* The enclosing event. */
static void put_parent(vp_json *j, const tl_index *x, const tl_event *e)
{
    const tl_row *r = tl_row_of(x, e);
    if (!r->depth)
        return;
    uint64_t i = tl_first_from(r - 1, 0, tl_start(r, e->index) + 1);
    vp_json_key(j, "parent");
    vp_json_begin_object(j);
    put_event_place(j, x, &(tl_event){e->track, e->row - 1, i ? i - 1 : 0});
    vp_json_end_object(j);
}

static void put_of_file(vp_json *j, const timeline_asked *a, const http_req *rq, const tl_event *e)
{
    const tl_index *x = a->x;
    const tl_kind *k = &x->kinds[tl_kind_of(tl_row_of(x, e), e->index)];
    const tl_group *g = &x->groups[x->tracks[e->track].group];
    put_event_kind(j, x, k);
    put_event_attrs(j, x, e);
    if (g->has_ops)
        put_op_link(j, a, rq, tl_text(x, g->name), tl_text(x, k->name), false);
}

/* The arguments of an analysis slice, with the names of the exports. */
static void put_of_analysis(vp_json *j, const timeline_asked *a, const http_req *rq,
                            const tl_event *e)
{
    const derived *d = a->added->tracks;
    const derived_track *t = &d->tracks[e->track];
    const derived_kind_row *k = &derived_kinds[t->kind];
    const tl_index *x = a->added->x;
    const derived_note *n = tl_derived_note(x, d, e);
    vp_json_kcstr(j, "derived", k->word);
    vp_json_key(j, "args");
    vp_json_begin_object(j);
    for (size_t i = 0; i < DERIVED_NUMBERS; i++)
        if (k->number[i] && n->number[i] != DERIVED_UNKNOWN)
            vp_json_ki64(j, k->number[i], n->number[i]);
    for (size_t i = 0; i < DERIVED_TEXTS; i++)
        if (k->text[i])
            put_text_if_any(j, k->text[i], derived_text(d, n->text[i]));
    vp_json_end_object(j);
    if (t->kind == DERIVED_SLOWEST)
        put_op_link(j, a, rq, derived_text(d, d->groups[t->group].name),
                    tl_text(x, x->kinds[tl_kind_of(tl_row_of(x, e), e->index)].name), true);
}

int route_timeline_event(http_req *rq)
{
    VP_CLEANUP(timeline_drop) timeline_asked a = {0};
    const tl_index *x;
    tl_event e;
    vp_json j;
    vp_buf b;
    VP_TRY(timeline_ask(&a, rq));
    VP_TRY(timeline_event(&e, &x, &a, rq, "id"));
    const tl_row *r = tl_row_of(x, &e);
    const tl_kind *k = &x->kinds[tl_kind_of(r, e.index)];
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    vp_json_init(&j, &b);
    vp_json_begin_object(&j);
    put_event_place(&j, x, &e);
    vp_json_ki64(&j, "lane", r->lane);
    vp_json_ki64(&j, "depth", r->depth);
    vp_json_ki64(&j, "events_of_row", (int64_t)r->count);
    vp_json_ki64(&j, "kind", tl_kind_of(r, e.index));
    vp_json_ki64(&j, "calls_of_kind", (int64_t)k->calls);
    vp_json_ki64(&j, "total_of_kind_ps", k->total_ps);
    (x == a.x ? put_of_file : put_of_analysis)(&j, &a, rq, &e);
    put_parent(&j, x, &e);
    int rc = put_linked(&j, x, &e);
    if (rc < 0)
        return vp_buf_fail(&b, rc);
    vp_json_end_object(&j);
    vp_buf_putc(&b, '\n');
    return http_json(rq, 200, &b);
}

/* ---- Search --------------------------------------------------------------------------------- */

typedef struct search {
    tl_query q;
    const tl_index *in; /* of q.after */
    tl_event at;
    int64_t from_ps;
} search;

static int ask_search(search *f, const timeline_asked *a, const http_req *rq)
{
    const char *after = http_query(rq, "after"), *before = http_query(rq, "before");
    int64_t ps;
    f->q.backwards = before != NULL;
    f->from_ps = a->x->start_ps;
    VP_TRY(timeline_take_time(&f->from_ps, rq, "from"));
    if (before && vp_str_to_i64(vp_str_of(before), &ps))
        return timeline_take_time(&f->from_ps, rq, "before");
    if (!after && !before)
        return 0;
    VP_TRY(timeline_event(&f->at, &f->in, a, rq, before ? "before" : "after"));
    f->from_ps = tl_start(tl_row_of(f->in, &f->at), f->at.index);
    return 0;
}

/* The next match in x. With equal start times, events of the file are first. */
static int search_in(tl_found *out, search *f, const tl_index *x, bool is_file)
{
    f->q.after = x == f->in ? &f->at : NULL;
    f->q.at_ps = f->from_ps + (f->in && f->in != x && is_file);
    return tl_find(out, x, &f->q);
}

static int64_t event_start_of(const tl_index *x, const tl_event *e)
{
    return tl_start(tl_row_of(x, e), e->index);
}

static int search_both(tl_found *out, const tl_index **of, search *f, const timeline_asked *a)
{
    tl_found more;
    VP_TRY(search_in(out, f, a->x, true));
    *of = a->x;
    if (!a->added)
        return 0;
    VP_TRY(search_in(&more, f, a->added->x, false));
    more.total += out->total;
    if (!more.any || (out->any && (event_start_of(a->x, &out->event) <=
                                   event_start_of(a->added->x, &more.event)) != f->q.backwards)) {
        out->total = more.total;
        return 0;
    }
    *out = more;
    *of = a->added->x;
    return 0;
}

/* `q`, and where to start: after the event `after`, before the event or the time `before`, or at
 * the time `from`. */
int route_timeline_search(http_req *rq)
{
    VP_CLEANUP(timeline_drop) timeline_asked a = {0};
    search s = {.q = {.text = vp_str_of(http_query(rq, "q"))}};
    const tl_index *x;
    tl_found f;
    vp_json j;
    vp_buf b;
    if (!s.q.text.n || s.q.text.n > SEARCH_MAX)
        return vp_fail(VP_EARG, "\"q\" must be a text of 1 to %u bytes", SEARCH_MAX);
    VP_TRY(timeline_ask(&a, rq));
    VP_TRY(ask_search(&s, &a, rq));
    VP_TRY(search_both(&f, &x, &s, &a));
    vp_buf_init(&b, VP_REPORT_BYTES_MAX);
    vp_json_init(&j, &b);
    vp_json_begin_object(&j);
    vp_json_ki64(&j, "total", (int64_t)f.total);
    vp_json_key(&j, "found");
    if (f.any) {
        vp_json_begin_object(&j);
        put_event_place(&j, x, &f.event);
        vp_json_end_object(&j);
    } else {
        vp_json_null(&j);
    }
    vp_json_end_object(&j);
    vp_buf_putc(&b, '\n');
    return http_json(rq, 200, &b);
}

/* ---- Marks ---------------------------------------------------------------------------------- */

static void put_finding_mark(vp_json *j, const timeline_asked *a, const vp_report *r,
                             const char *host, const vp_finding *f)
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
        timeline_put_span(j, start, end);
        vp_json_end_object(j);
    }
}

static void put_timeline_marks(vp_buf *b, const timeline_asked *a, const vp_report *r)
{
    const char *host = r->host_count > 1 ? a->s->hosts[a->host].name : NULL;
    vp_json j;
    vp_json_init(&j, b);
    vp_json_begin_object(&j);
    timeline_put_steps(&j, a->x, r, host);
    vp_json_key(&j, "findings");
    vp_json_begin_array(&j);
    for (size_t i = 0; i < r->finding_count; i++)
        if (r->findings[i].status == VP_FIRED)
            put_finding_mark(&j, a, r, host, &r->findings[i]);
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
    put_timeline_marks(&b, &a, store_report_of(h));
    return http_json(rq, 200, &b);
}
