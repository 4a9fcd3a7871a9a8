/* The second pass over a Trace Event JSON for a .pftrace: contents of events are stored in the
 * spool, and events without a length on a track. */
#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/pftrace/pft_json.h"
#include "trace/export/shared/stream_out.h"

/* The current event, and the position of its record. */
typedef struct place {
    const jp_event *e;
    const jp_change *changes;
    size_t change_count;
    vp_buf *out;
} place;

static bool has_change(const place *at, jp_change_kind kind)
{
    for (size_t i = 0; i < at->change_count; i++)
        if (at->changes[i].kind == kind)
            return true;
    return false;
}

/* Writes the content of the event. *record: its position in the spool. */
static int spool_put_record(pft_json *x, const place *at, int64_t *record)
{
    if (at->e->phase == 'E' && !has_change(at, JP_INSTANT))
        VP_TRY(pft_json_say_args(x, at->e));
    else
        VP_TRY(pft_json_say(x, at->e, at->changes, at->change_count));
    *record = x->spooled + (int64_t)(at->out->n - RD_HEADROOM);
    VP_TRY(pft_spool_put(at->out, vp_buf_view(&x->writer.event)));
    return EX_KEPT;
}

static int add_mark(pft_json *x, pft_queue *q, int64_t ns, uint64_t what, uint32_t event)
{
    VP_TRY(vp_grow(&x->marks, &x->mark_cap, x->mark_count + 1, sizeof *x->marks, VP_EVENTS_MAX));
    uint32_t number = (uint32_t)x->mark_count++;
    x->marks[number] = (pft_mark){ns, what, JP_NONE, event};
    if (q->first == JP_NONE)
        q->first = number;
    else
        x->marks[q->last].next = number;
    q->last = number;
    return 0;
}

/* A complete event, a begin, or an end with content: the plan has its times. */
static int take_slice(pft_json *x, const place *at)
{
    int64_t record;
    int kept = spool_put_record(x, at, &record);
    VP_TRY(kept);
    x->record[at->e->number] = (uint64_t)record + 1;
    return kept;
}

static int mark_record(pft_json *x, const place *at, pft_queue *q, unsigned kind, uint32_t lane)
{
    int64_t record;
    int kept = spool_put_record(x, at, &record);
    VP_TRY(kept);
    VP_TRY(add_mark(x, q, at->e->start_ns, pft_mark_what(kind, lane, (uint64_t)record),
                    at->e->number));
    return kept;
}

/* ---- Tracks outside of threads ----------------------------------------------------------------
 */

static uint32_t process_of_event(const pft_json *x, const jp_event *e)
{
    return e->thread == JP_NONE ? JP_NONE : x->plan.threads[e->thread].process;
}

/* The track with `key`. name: its name, if it is new. 1; 0: the limit of tracks is reached. */
static int find_beside(pft_json *x, uint64_t key, pft_beside_kind kind, uint32_t process,
                       vp_str name, pft_queue **q)
{
    key = vp_mix(key ^ ((uint64_t)process << 8 | kind));
    uint32_t number = vp_map_get(&x->beside_at, key);
    if (number == VP_MAP_NONE) {
        if (x->beside_count == VP_TRACKS_MAX)
            return 0;
        pft_beside b = {.kind = kind, .process = process, .queue = PFT_QUEUE_EMPTY};
        number = (uint32_t)x->beside_count;
        VP_TRY(vp_intern_put(&x->plan.texts, name, &b.name));
        VP_TRY(vp_grow(&x->besides, &x->beside_cap, x->beside_count + 1, sizeof b, VP_TRACKS_MAX));
        VP_TRY(vp_map_set(&x->beside_at, key, number));
        x->besides[x->beside_count++] = b;
    }
    *q = &x->besides[number].queue;
    return 1;
}

static int has_no_track(pft_json *x)
{
    x->unsaid++;
    return EX_EMPTY;
}

/* On a thread, or by its scope on a track of the process or a global one. */
static int take_instant(pft_json *x, const place *at)
{
    const jp_event *e = at->e;
    vp_str scope = jp_unquoted(jp_text(e, EX_SCOPE));
    char letter = scope.n ? *scope.p : 't';
    pft_queue *q = &x->on_thread[e->thread];
    int found = 1;
    if (letter == 'p')
        found = find_beside(x, 0, PFT_BESIDE_MARKS, process_of_event(x, e), VP_STR("Instants"), &q);
    else if (letter == 'g')
        found = find_beside(x, 0, PFT_BESIDE_MARKS, JP_NONE, VP_STR("Instants"), &q);
    if (found <= 0)
        return found < 0 ? found : has_no_track(x);
    return mark_record(x, at, q, PFT_MARK_INSTANT, 0);
}

static int take_async(pft_json *x, const place *at)
{
    const jp_event *e = at->e;
    size_t before = x->beside_count;
    jp_scope scope;
    bool odd;
    pft_queue *q;
    jp_async_id(e, &scope);
    uint64_t key = jp_async_key(&x->plan, e, &odd);
    uint32_t process = scope == JP_OF_ALL ? JP_NONE : process_of_event(x, e), apart = process;
    for (size_t i = 0; i < at->change_count; i++) {
        if (at->changes[i].kind != JP_ID)
            continue;
        key = vp_mix((uint64_t)at->changes[i].value);
        apart = JP_NONE;
    }
    int found = find_beside(x, key, PFT_BESIDE_ASYNC, apart, jp_unquoted(jp_text(e, EX_NAME)), &q);
    if (found <= 0)
        return found < 0 ? found : has_no_track(x);
    if (x->beside_count > before)
        x->besides[before].process = process;
    return mark_record(x, at, q,
                       e->phase == 'b'   ? PFT_MARK_BEGIN
                       : e->phase == 'e' ? PFT_MARK_END
                                         : PFT_MARK_INSTANT,
                       0);
}

/* "NAME[ id: ID] KEY", as in the importer. */
static vp_str counter_name(pft_json *x, const jp_event *e, vp_str key)
{
    vp_buf *b = &x->scratch;
    vp_str id = jp_unquoted(jp_text(e, EX_ID));
    b->n = 0;
    vp_buf_str(b, jp_unquoted(jp_text(e, EX_NAME)));
    vp_buf_puts(b, id.n ? " id: " : "");
    vp_buf_str(b, id);
    vp_buf_putc(b, ' ');
    vp_buf_str(b, key);
    return vp_buf_view(b);
}

/* 1; 0: it has no track. */
static int take_counter_value(pft_json *x, const jp_event *e, vp_str key, vp_str text)
{
    double value = strtod(text.p, NULL); /* a quote, comma or bracket follows */
    vp_str name = counter_name(x, e, key);
    uint64_t bits;
    pft_queue *q;
    memcpy(&bits, &value, sizeof bits);
    VP_TRY(x->scratch.status);
    int found = find_beside(x, vp_hash(name.p, name.n, 0), PFT_BESIDE_COUNTER,
                            process_of_event(x, e), name, &q);
    if (found <= 0)
        return found;
    VP_TRY(add_mark(x, q, e->start_ns, bits, e->number));
    return 1;
}

/* One track for each value of a counter. */
static int take_counter(pft_json *x, const place *at)
{
    vp_str args = jp_text(at->e, EX_ARGS), key;
    const char *p = args.p + 1, *end = args.p + args.n;
    js_value v;
    int all = 1;
    while (js_next_member(&p, end, js_skip_best(), &key, &v) == JS_MEMBER) {
        int taken = jp_is_number(v) ? take_counter_value(x, at->e, key, v.s) : 1;
        VP_TRY(taken);
        all = all && taken;
    }
    return all ? EX_EMPTY : has_no_track(x);
}

/* ---- Flows ---------------------------------------------------------------------------------- */

/* The thread and lane of the slices to which a flow belongs. */
static void find_lane(const pft_json *x, const place *at, uint32_t *thread, uint32_t *lane)
{
    *thread = at->e->thread;
    *lane = 0;
    for (size_t i = 0; i < at->change_count; i++) {
        if (at->changes[i].kind != JP_THREAD)
            continue;
        *thread = (uint32_t)(at->changes[i].value >> 32);
        const jp_thread *t = &x->plan.threads[*thread];
        uint32_t tid = (uint32_t)at->changes[i].value;
        for (*lane = 0; *lane + 1 < t->lanes && jp_lane_tid(&x->plan, t, *lane) != tid;)
            ++*lane;
    }
}

static int take_flow_event(pft_json *x, const place *at)
{
    const jp_event *e = at->e;
    uint32_t thread, lane;
    bool next = e->phase == 'f' && !vp_str_eq(jp_text(e, EX_BP), VP_STR("\"e\""));
    find_lane(x, at, &thread, &lane);
    if (!x->plan.threads[thread].lanes) { /* no slice follows */
        x->lost++;
        return EX_EMPTY;
    }
    return mark_record(x, at, &x->on_thread[thread], next ? PFT_MARK_FLOW_NEXT : PFT_MARK_FLOW,
                       lane);
}

/* ---- The editor ----------------------------------------------------------------------------- */

static int take_span_end(pft_json *x, const place *at)
{
    if (has_change(at, JP_INSTANT))
        return mark_record(x, at, &x->on_thread[at->e->thread], PFT_MARK_INSTANT, 0);
    return jp_text(at->e, EX_ARGS).n > 2 ? take_slice(x, at) : EX_EMPTY;
}

static int take_event_by_phase(pft_json *x, const place *at)
{
    static const struct {
        uint64_t phases;
        int (*take)(pft_json *x, const place *at);
    } table[] = {{JP_SLICES, take_slice},       {JP_PHASE('E'), take_span_end},
                 {JP_MOMENTS, take_instant},    {JP_FLOWS, take_flow_event},
                 {JP_PHASE('C'), take_counter}, {JP_HALVES | JP_PHASE('n'), take_async}};
    char phase = at->e->phase;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (jp_is_of(phase, table[i].phases))
            return table[i].take(x, at);
    x->unsaid += phase != 'M'; /* metadata is in the plan */
    return EX_EMPTY;
}

static int spool_event(void *ctx, vp_buf *out, vp_str text, int64_t at, const ex_fields *f)
{
    pft_json *x = ctx;
    jp_event e;
    place where = {.e = &e, .out = out};
    int kept = jp_show(&x->second, text, at, f, &e, &where.changes, &where.change_count);
    if (kept != EX_KEPT)
        return kept;
    bool strange = e.thread != JP_NONE && e.thread >= x->thread_count;
    if (e.number == JP_NONE || strange) { /* the plan has no entry for it */
        x->unsaid++;
        return EX_EMPTY;
    }
    return take_event_by_phase(x, &where);
}

static int note_counts(void *ctx, vp_buf *out, const ex_clean_counts *counts)
{
    (void)out;
    ((pft_json *)ctx)->refused = counts->refused;
    return 0;
}

ex_editor pft_json_second(pft_json *x)
{
    return (ex_editor){.event = spool_event, .last = note_counts, .ctx = x};
}
