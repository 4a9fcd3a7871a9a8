/* The second pass over a Trace Event JSON: writes every event as planned. Unchanged parts are
 * copied byte for byte. */
#include <stdio.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/limits.h"
#include "trace/export/json/json_plan.h"
#include "trace/export/shared/added.h"
#include "trace/export/shared/quote.h"
#include "trace/export/shared/times.h"

/* The new values of an event's members; missing members are added. */
typedef struct edit {
    vp_str value[EX_FIELDS]; /* n = 0: stays */
    char ts[EX_US_MAX], dur[EX_US_MAX], id[24], tid[24];
} edit;

static const char *const member_names[EX_FIELDS] = {
    [EX_SCOPE] = "s",
    [EX_PH] = "ph",
    [EX_TS] = "ts",
    [EX_ID] = "id",
    [EX_DUR] = "dur",
    [EX_PID] = "pid",
    [EX_TID] = "tid",
    [EX_CAT] = "cat",
    [EX_BIND] = "bind_id",
    [EX_FLOW_IN] = "flow_in",
    [EX_FLOW_OUT] = "flow_out",
    [EX_ARGS] = "args",
};

static vp_str us_text(char out[EX_US_MAX], int64_t ns)
{
    return (vp_str){out, (size_t)(ex_us_text(out, ns) - out)};
}

static vp_str print_id_text(char out[24], int64_t id)
{
    return (vp_str){out, (size_t)snprintf(out, 24, "%lld", (long long)id)};
}

static void edit_set_times(const json_plan *p, const jp_event *e, edit *d)
{
    if (!e->timed)
        return;
    int64_t ns = e->start_ns + p->delta_ns;
    d->value[EX_TS] = us_text(d->ts, ns < 0 ? 0 : ns); /* metadata may precede all events */
    if (e->phase == 'X')
        d->value[EX_DUR] = us_text(d->dur, e->end_ns - e->start_ns);
}

static void set_thread(const json_plan *p, const jp_event *e, const jp_thread *t, edit *d)
{
    const jp_process *pr = &p->processes[t->process];
    if (e->f->v[EX_PID].n || pr->pid)
        d->value[EX_PID] = (vp_str){pr->text, pr->text_n};
    if (e->f->v[EX_TID].n || jp_on_thread(e->phase))
        d->value[EX_TID] = (vp_str){t->text, t->text_n};
}

static void set_half(edit *d, const char *phase, int64_t id)
{
    d->value[EX_PH] = vp_str_of(phase);
    d->value[EX_CAT] = VP_STR("\"async\"");
    d->value[EX_ID] = print_id_text(d->id, id);
}

static void put_bind_id(edit *d, int64_t id)
{
    d->value[EX_BIND] = (vp_str){
        d->id, (size_t)snprintf(d->id, sizeof d->id, "\"0x%llx\"", (unsigned long long)id)};
}

static void edit_apply_change(const json_plan *p, const jp_event *e, const jp_change *c, edit *d)
{
    switch (c->kind) {
    case JP_DROP: /* it is not shown */
    case JP_LATE: /* moved as a whole */
        return;
    case JP_THREAD:
        set_thread(p, e, &p->threads[c->value >> 32], d);
        d->value[EX_TID] = print_id_text(d->tid, (uint32_t)c->value);
        return;
    case JP_SPAN:
        d->value[EX_PH] = VP_STR("\"X\"");
        d->value[EX_DUR] = us_text(d->dur, c->value);
        return;
    case JP_INSTANT:
        d->value[EX_PH] = VP_STR("\"i\"");
        d->value[EX_SCOPE] = VP_STR("\"t\"");
        return;
    case JP_ASYNC:
        set_half(d, "\"b\"", c->value);
        return;
    case JP_HALF:
        set_half(d, e->phase == 'E' ? "\"e\"" : "\"b\"", c->value);
        return;
    case JP_ID:
        d->value[EX_ID] = print_id_text(d->id, c->value);
        return;
    case JP_BIND:
        put_bind_id(d, c->value);
        return;
    }
}

/* The changed members, in the order of the text; then the added ones. */
static int edit_field_order(const jp_event *e, const edit *d, int order[EX_FIELDS])
{
    int n = 0;
    for (int i = 0; i < EX_FIELDS; i++) {
        vp_str value = d->value[i];
        if (!value.n || vp_str_eq(value, jp_text(e, (ex_field)i)))
            continue;
        uint32_t at = e->f->v[i].n ? e->f->v[i].at : UINT32_MAX;
        int k = n++;
        for (; k && (e->f->v[order[k - 1]].n ? e->f->v[order[k - 1]].at : UINT32_MAX) > at; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    return n;
}

static void put_edited(vp_buf *b, const jp_event *e, const edit *d, const int *order, int n)
{
    size_t done = 0;
    for (int i = 0; i < n; i++) {
        int field = order[i];
        if (!e->f->v[field].n)
            continue;
        vp_buf_put(b, e->text + done, e->f->v[field].at - done);
        vp_buf_str(b, d->value[field]);
        done = e->f->v[field].at + e->f->v[field].n;
    }
    vp_buf_put(b, e->text + done, e->n - 1 - done);
    for (int i = 0; i < n; i++) {
        if (!e->f->v[order[i]].n) {
            vp_buf_printf(b, ",\"%s\":", member_names[order[i]]);
            vp_buf_str(b, d->value[order[i]]);
        }
    }
    vp_buf_putc(b, '}');
}

/* The end of a complete event that becomes async. */
static void put_complete_as_async_end(vp_buf *b, const json_plan *p, const jp_event *e,
                                      const jp_change *c)
{
    char ts[EX_US_MAX];
    vp_str name = jp_text(e, EX_NAME), at = us_text(ts, e->end_ns + p->delta_ns);
    const jp_thread *t = &p->threads[e->thread];
    vp_buf_printf(
        b, ",\n{\"ph\":\"e\",\"pid\":%u,\"tid\":%u,\"ts\":%.*s,\"cat\":\"async\",\"id\":%lld",
        p->processes[t->process].pid, t->tid, (int)at.n, at.p, (long long)c->value);
    if (name.n) {
        vp_buf_puts(b, ",\"name\":");
        vp_buf_str(b, name);
    }
    vp_buf_putc(b, '}');
}

/* A counter's args without values that are not numbers: the importer counts each as an error. */
static void put_numbers(vp_buf *b, vp_str args)
{
    const char *p = args.p + 1, *end = args.p + args.n;
    vp_str name;
    js_value v;
    char before = '{';
    while (js_next_member(&p, end, js_skip_best(), &name, &v) == JS_MEMBER) {
        if (!jp_is_number(v))
            continue;
        vp_buf_printf(b, "%c\"", before);
        vp_buf_str(b, name);
        vp_buf_puts(b, v.type == JS_STRING ? "\":\"" : "\":");
        vp_buf_str(b, v.s);
        vp_buf_puts(b, v.type == JS_STRING ? "\"" : "");
        before = ',';
    }
    vp_buf_putc(b, '}');
}

static bool has_odd_value(vp_str args)
{
    const char *p = args.p + 1, *end = args.p + args.n;
    vp_str name;
    js_value v;
    while (js_next_member(&p, end, js_skip_best(), &name, &v) == JS_MEMBER)
        if (!jp_is_number(v))
            return true;
    return false;
}

/* The event's args, and what is known of its launch. */
static int put_place(vp_buf *b, const json_plan *p, const jp_event *e, const derived_place *place)
{
    vp_str args = jp_text(e, EX_ARGS);
    jp_place_arg more[JP_PLACE_ARGS];
    size_t n = jp_place_args(more, p, e, place);
    vp_str inner = vp_str_trim(vp_str_head(vp_str_skip(args, 1), args.n - 2));
    vp_buf_put(b, args.p, args.n - 1);
    for (size_t i = 0; i < n; i++) {
        vp_buf_printf(b, "%s\"%s\":", i || inner.n ? "," : "", more[i].key);
        VP_TRY(ex_quote(b, more[i].text));
    }
    return vp_buf_putc(b, '}');
}

static int edit_set_links(jp_rewriter *r, const jp_event *e, edit *d)
{
    json_plan *p = r->second.plan;
    jp_links l;
    VP_TRY(jp_links_of(&l, p, e));
    if (l.flow && !jp_text(e, EX_BIND).n) {
        put_bind_id(d, l.flow);
        d->value[l.flow_in ? EX_FLOW_IN : EX_FLOW_OUT] = VP_STR("true");
    }
    if (!l.place)
        return 0;
    r->scratch.n = 0;
    VP_TRY(put_place(&r->scratch, p, e, l.place));
    d->value[EX_ARGS] = vp_buf_view(&r->scratch);
    return 0;
}

/* Maximum bytes of events that wait for the end of the file. */
#define LATE_MAX ((size_t)1 << 20)

/* The destination of an event: the output, or the end of the file. */
static vp_buf *output_of_event(jp_rewriter *r, vp_buf *out, const jp_change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (changes[i].kind == JP_LATE && r->late.n < LATE_MAX) {
            vp_buf_puts(&r->late, r->late.n ? ",\n" : "");
            return &r->late;
        }
    return out;
}

static int rewrite_event(void *ctx, vp_buf *out, vp_str text, int64_t at, const ex_fields *f)
{
    jp_rewriter *r = ctx;
    const json_plan *p = r->second.plan;
    const jp_change *changes, *async = NULL;
    size_t count;
    jp_event e;
    edit d = {0};
    int order[EX_FIELDS], kept = jp_show(&r->second, text, at, f, &e, &changes, &count);
    if (kept != EX_KEPT)
        return kept;
    r->unsaid += !jp_is_of(e.phase, JP_TAKEN);
    edit_set_times(p, &e, &d);
    if (e.thread != JP_NONE)
        set_thread(p, &e, &p->threads[e.thread], &d);
    for (size_t i = 0; i < count; i++) {
        edit_apply_change(p, &e, &changes[i], &d);
        async = changes[i].kind == JP_ASYNC ? &changes[i] : async;
    }
    if (jp_is_of(e.phase, JP_MOMENTS) && !jp_text(&e, EX_PID).n && !d.value[EX_PID].n &&
        vp_str_eq(jp_text(&e, EX_SCOPE), VP_STR("\"p\"")))
        d.value[EX_PID] = VP_STR("0"); /* it works without a value, but the importer fails */
    vp_str args = jp_text(&e, EX_ARGS);
    if (e.phase == 'C' && has_odd_value(args)) {
        r->scratch.n = 0;
        put_numbers(&r->scratch, args);
        d.value[EX_ARGS] = vp_buf_view(&r->scratch);
    }
    VP_TRY(edit_set_links(r, &e, &d));
    vp_buf *to = output_of_event(r, out, changes, count);
    put_edited(to, &e, &d, order, edit_field_order(&e, &d, order));
    if (async)
        put_complete_as_async_end(out, p, &e, async);
    VP_TRY(r->scratch.status);
    VP_TRY(r->late.status);
    return to == out ? EX_KEPT : EX_EMPTY;
}

/* ---- Names of tracks that the file lacks ----------------------------------------------------- */

typedef struct namer {
    vp_buf *b;
    bool any;
} namer;

static void begin_name(namer *m, const char *what, uint32_t pid, uint32_t tid)
{
    vp_buf_puts(m->b, m->any ? ",\n" : "");
    m->any = true;
    vp_buf_printf(m->b, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u", what, pid);
    if (tid)
        vp_buf_printf(m->b, ",\"tid\":%u", tid);
}

/* A value of the file, which is a string or a number, as a name; number: 0 for none. */
static void namer_put_name(namer *m, vp_str text, uint32_t number)
{
    bool quoted = text.n > 1 && *text.p == '"';
    vp_buf_puts(m->b, ",\"args\":{\"name\":\"");
    vp_buf_put(m->b, text.p + quoted, text.n - 2 * (size_t)quoted);
    if (number)
        vp_buf_printf(m->b, " (%u)", number);
    vp_buf_puts(m->b, "\"}}");
}

/* The importer refuses empty names. */
static bool is_empty_name(vp_str text)
{
    return vp_str_eq(text, VP_STR("\"\""));
}

static void name_thread(namer *m, const json_plan *p, const jp_thread *t)
{
    uint32_t pid = p->processes[t->process].pid;
    vp_str raw = vp_intern_get(&p->texts, t->raw), sort = vp_intern_get(&p->texts, t->sort);
    vp_str name = jp_thread_name(p, t);
    if (!t->name && *raw.p == '"' && !is_empty_name(raw)) {
        begin_name(m, "thread_name", pid, t->tid);
        namer_put_name(m, raw, 0);
    }
    for (uint32_t lane = 1; lane < t->lanes; lane++) {
        begin_name(m, "thread_name", pid, jp_lane_tid(p, t, lane));
        namer_put_name(m, name, lane + 1);
        if (!sort.n)
            continue;
        begin_name(m, "thread_sort_index", pid, jp_lane_tid(p, t, lane));
        vp_buf_puts(m->b, ",\"args\":{\"sort_index\":");
        vp_buf_str(m->b, sort);
        vp_buf_puts(m->b, "}}");
    }
}

static int put_process_names(void *ctx, vp_buf *out)
{
    const json_plan *p = ((const jp_rewriter *)ctx)->second.plan;
    namer m = {.b = out};
    for (size_t i = 0; i < p->process_count; i++) {
        const jp_process *pr = &p->processes[i];
        if (pr->known || pr->named || !pr->needed ||
            is_empty_name(vp_intern_get(&p->texts, pr->raw)))
            continue;
        begin_name(&m, "process_name", pr->pid, 0);
        namer_put_name(&m, vp_intern_get(&p->texts, pr->raw), 0);
    }
    for (size_t i = 0; i < p->thread_count; i++)
        if (p->threads[i].needed)
            name_thread(&m, p, &p->threads[i]);
    return out->status;
}

/* Missing events are reported in the trace itself: importers skip unknown keys. */
static int put_missing_note(void *ctx, vp_buf *out, const ex_clean_counts *counts)
{
    const jp_rewriter *r = ctx;
    const json_plan *p = r->second.plan;
    uint64_t events = counts->refused + p->unpaired + r->unsaid;
    if (!events && !p->unbound)
        return 0;
    if (p->pick) {
        p->pick->missing_events = events;
        p->pick->missing_flows = p->unbound;
    }
    return vp_buf_printf(out, ",\"view_profile_missing\":{\"events\":%llu,\"flows\":%llu}",
                         (unsigned long long)events, (unsigned long long)p->unbound);
}

static int put_late_and_added(void *ctx, vp_buf *out, bool *any)
{
    jp_rewriter *r = ctx;
    struct ex_added *added;
    if (r->late.n) {
        vp_buf_puts(out, *any ? ",\n" : "");
        vp_buf_str(out, vp_buf_view(&r->late));
        *any = true;
        r->late.n = 0;
    }
    int rc = jp_added(&added, r->second.plan);
    return rc > 0 ? ex_added_json(added, out, any) : rc;
}

ex_editor jp_rewrite(jp_rewriter *r, json_plan *p)
{
    *r = (jp_rewriter){.second.plan = p};
    vp_buf_init(&r->scratch, 4 * (size_t)VP_JSON_EVENT_MAX);
    vp_buf_init(&r->late, LATE_MAX + 8 * (size_t)VP_JSON_EVENT_MAX);
    return (ex_editor){.event = rewrite_event,
                       .first = put_process_names,
                       .behind = put_late_and_added,
                       .last = put_missing_note,
                       .ctx = r};
}
