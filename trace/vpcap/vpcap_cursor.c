/* Converts the records of a thread to events, in order. */
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/vpcap/vpcap_view.h"

/* Flows that wait for the end of their enclosing zone. Real code has one handover per zone; if more
 * are waiting, the oldest become separate events. */
#define FLOWS_MAX 16u

typedef struct flow {
    uint64_t at, id; /* ticks */
    bool out;
} flow;

struct vpcap_cursor {
    const vpcap *v;
    const vpcap_thread_ref *thread;
    uint32_t chunk;   /* the next one to read; the current one precedes it */
    const char *base; /* of the current chunk */
    uint32_t slot, head;
    flow flows[FLOWS_MAX];
    uint32_t flow_count;
    bool lost_told;
    int64_t last;      /* the latest end, in ticks since the start */
    uint64_t from, to; /* of the current event, in ticks */
    vp__record last_record;
    vpcap_arg args[VPCAP_ARGS_MAX];
    size_t listed, listed_count; /* this thread's range in v->open */
    bool open_found;
    size_t open_count;
    vpcap_open_zone open[]; /* outermost first */
};

/* Times of one record, in ticks. */
typedef struct raw_event {
    uint64_t start, end;
} raw_event;

/* Number of entries in v->open that precede those of this thread. */
static size_t listed_before(const vpcap *v, uint32_t block, uint64_t thread)
{
    size_t low = 0, high = v->open_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const vpcap_open_zone *z = &v->open[mid];
        if (z->block < block || (z->block == block && z->thread < thread))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

int vpcap_cursor_new(vpcap_cursor **out, const vpcap *v, uint32_t thread)
{
    vpcap_cursor *c;
    if (thread >= v->thread_count)
        return vp_fail(VP_EARG, "there is no thread %u", thread);
    const vpcap_thread_ref *t = &v->threads[thread];
    size_t at = listed_before(v, t->page, t->number), end = at;
    while (end < v->open_count && v->open[end].block == t->page && v->open[end].thread == t->number)
        end++;
    c = vp_calloc(1, sizeof *c + (end - at + 2 * VP__DEPTH) * sizeof *c->open);
    if (!c)
        return vp_fail(VP_ENOMEM, "out of memory: a recording's cursor");
    c->v = v;
    c->thread = t;
    c->listed = at;
    c->listed_count = end - at;
    c->chunk = c->thread->first;
    *out = c;
    return 0;
}

void vpcap_cursor_free(vpcap_cursor *c)
{
    vp_free(c);
}

static uint64_t word_at(const vpcap_cursor *c, uint32_t slot, unsigned half)
{
    const uint64_t *p = (const uint64_t *)(c->base + (size_t)slot * VP__SLOT) + half;
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static vp__record record_at(const vpcap_cursor *c, uint32_t slot)
{
    uint64_t start = word_at(c, slot, 0), rest = word_at(c, slot, 1);
    return (vp__record){start, (uint32_t)rest, (uint32_t)(rest >> 32)};
}

static bool cursor_next_chunk(vpcap_cursor *c)
{
    while (c->chunk < c->thread->end) {
        const vpcap_chunk_ref *ref = &c->v->chunks[c->chunk++];
        c->base = (const char *)vpcap_chunk_at(c->v, ref->page);
        c->slot = sizeof(vp__chunk) / VP__SLOT;
        if (!ref->order)
            c->slot += sizeof(vp__block) / VP__SLOT;
        if (c->thread->slot && c->chunk - 1 == c->thread->first)
            c->slot = c->thread->slot;
        c->head = ref->head;
        if (c->slot < c->head)
            return true;
    }
    return false;
}

static vp_str arg_key_name(const vpcap_cursor *c, uint32_t key)
{
    return key < vpcap_names(c->v) ? vpcap_name_at(c->v, key).name : VP_STR_NONE;
}

static void add_arg(vpcap_cursor *c, vpcap_event *e, const vp__item *item, vp_str s)
{
    uint32_t type = item->what & 0xff;
    vpcap_arg *a = &c->args[e->arg_count];
    if (e->arg_count == VPCAP_ARGS_MAX)
        return;
    *a = (vpcap_arg){.key = arg_key_name(c, item->key), .s = s};
    a->type = type == VP__ITEM_F64 ? VPCAP_F64 : type == VP__ITEM_STR ? VPCAP_STR : VPCAP_I64;
    if (type == VP__ITEM_F64)
        memcpy(&a->f, &item->value, sizeof a->f);
    else if (type == VP__ITEM_I64)
        a->i = (int64_t)item->value;
    e->arg_count++;
}

static void cursor_take_item(vpcap_cursor *c, vpcap_event *e, raw_event *raw, const vp__item *item,
                             vp_str s)
{
    switch (item->what & 0xff) {
    case VP__ITEM_NUMBER:
        e->number = (int64_t)item->value;
        break;
    case VP__ITEM_REAL:
        e->is_real = true;
        memcpy(&e->real, &item->value, sizeof e->real);
        break;
    case VP__ITEM_LONG:
        raw->end += item->value << 32;
        break;
    case VP__ITEM_FLOW_OUT:
        e->flow_out = item->value;
        break;
    case VP__ITEM_FLOW_IN:
        e->flow_in = item->value;
        break;
    case VP__ITEM_CORRELATION:
        e->correlation = (uint32_t)item->value;
        break;
    case VP__ITEM_TRACK:
        e->track = (uint32_t)item->value < vpcap_tracks(c->v) ? (uint32_t)item->value : VPCAP_NONE;
        break;
    case VP__ITEM_I64:
    case VP__ITEM_F64:
    case VP__ITEM_STR:
        add_arg(c, e, item, s);
        break;
    default:
        break;
    }
}

/* Reads the items after the record at c->slot - 1. false: they exceed the chunk. */
static bool take_items(vpcap_cursor *c, vpcap_event *e, raw_event *raw, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (c->slot >= c->head)
            return false;
        uint64_t rest = word_at(c, c->slot, 1);
        vp__item item = {word_at(c, c->slot, 0), (uint32_t)rest, (uint32_t)(rest >> 32)};
        vp_str s = VP_STR_NONE;
        c->slot++;
        if ((item.what & 0xff) == VP__ITEM_STR) {
            uint32_t bytes = item.what >> 8, slots = (bytes + VP__SLOT - 1) / VP__SLOT;
            if (slots > c->head - c->slot)
                return false;
            s = (vp_str){c->base + (size_t)c->slot * VP__SLOT, bytes};
            c->slot += slots;
        }
        cursor_take_item(c, e, raw, &item, s);
    }
    return true;
}

static void remove_flow(flow *flows, uint32_t *count, uint32_t i)
{
    memmove(flows + i, flows + i + 1, (*count - i - 1) * sizeof *flows);
    --*count;
}

/* Moves waiting flows to their enclosing zone. Zones end innermost first, so that is the first zone
 * to end that began before the flow. */
static void attach_flows(vpcap_cursor *c, vpcap_event *e, uint64_t start)
{
    for (uint32_t i = 0; i < c->flow_count;) {
        const flow *f = &c->flows[i];
        uint64_t *place = f->out ? &e->flow_out : &e->flow_in;
        if ((int64_t)(f->at - start) < 0 || *place) {
            i++;
            continue;
        }
        *place = f->id;
        remove_flow(c->flows, &c->flow_count, i);
    }
}

static void keep_flow(vpcap_cursor *c, const vpcap_event *e, uint64_t at)
{
    c->flows[c->flow_count++] =
        (flow){at, e->flow_out ? e->flow_out : e->flow_in, e->flow_out != 0};
}

static bool is_zone(uint32_t kind)
{
    return kind == VP__ZONE || kind == VP__STEP || kind == VP__COMPILE;
}

static vpcap_kind event_kind_of_record(uint32_t kind)
{
    static const vpcap_kind kinds[] = {VPCAP_ZONE,    VPCAP_ZONE,    VPCAP_STEP, VPCAP_COMPILE,
                                       VPCAP_INSTANT, VPCAP_COUNTER, VPCAP_SPAN, VPCAP_LOST};
    return kinds[kind & 7];
}

static void cursor_set_times(vpcap_cursor *c, vpcap_event *e, uint64_t start, uint64_t end)
{
    int64_t from = vpcap_ps(c->v, start), to = vpcap_ps(c->v, end);
    e->start_ps = from;
    e->dur_ps = to > from ? to - from : 0;
    c->from = start;
    c->to = end;
}

static void give_flow(vpcap_cursor *c, vpcap_event *e)
{
    flow f = c->flows[0];
    remove_flow(c->flows, &c->flow_count, 0);
    *e = (vpcap_event){
        .name = VPCAP_NAME_FLOW, .kind = VPCAP_INSTANT, .track = VPCAP_NONE, .args = c->args};
    cursor_set_times(c, e, f.at, f.at);
    *(f.out ? &e->flow_out : &e->flow_in) = f.id;
}

static int64_t since_start(const vpcap_cursor *c, uint64_t ticks)
{
    return (int64_t)(ticks - c->v->head.start.ticks);
}

static void set_last(vpcap_cursor *c, int64_t end)
{
    if (end > c->last)
        c->last = end;
}

/* Sets single fields: clearing the whole struct took a third of the time of a walk. */
static void clear_event(const vpcap_cursor *c, vpcap_event *e, uint32_t name)
{
    e->start_ps = e->dur_ps = 0;
    e->name = name;
    e->kind = VPCAP_ZONE;
    e->track = VPCAP_NONE;
    e->correlation = 0;
    e->open = e->is_real = false;
    e->number = 0;
    e->real = 0;
    e->flow_out = e->flow_in = 0;
    e->arg_count = 0;
    e->args = c->args;
}

/* True if an event ended within the cut. Clocks of devices may be ahead, so a span may end after
 * the stop. */
static bool is_within_cut(const vpcap_header *h, uint32_t kind, uint64_t end)
{
    return (int64_t)(end - h->cut_ticks) >= 0 &&
           (kind == VP__SPAN || (int64_t)(h->stop.ticks - end) >= 0);
}

/* 1: an event; 0: the record is to be skipped. */
static int take_record(vpcap_cursor *c, vpcap_event *e)
{
    vp__record r = record_at(c, c->slot++);
    raw_event raw = {r.start, r.start + r.dur};
    uint32_t name = r.what >> 8, kind = r.what & 7;
    clear_event(c, e, name);
    if (!take_items(c, e, &raw, r.what >> 3 & 31) || kind == VP__NOTHING) {
        c->slot = c->head;
        return 0;
    }
    if (name >= vpcap_names(c->v))
        return 0;
    if (kind == VP__INSTANT && name == VPCAP_NAME_FLOW) {
        keep_flow(c, e, raw.start);
        return 0;
    }
    e->kind = event_kind_of_record(kind);
    if (kind == VP__LOST) {
        e->number = (int64_t)(raw.end - raw.start);
        raw.end = raw.start;
    }
    cursor_set_times(c, e, raw.start, raw.end);
    if (is_zone(kind))
        attach_flows(c, e, raw.start);
    if (kind != VP__SPAN)
        set_last(c, since_start(c, raw.end));
    c->last_record = r;
    return !c->v->head.cut_ticks || is_within_cut(&c->v->head, kind, raw.end);
}

/* True if this open zone's record was already written: for an instant a zone has both a record and
 * an entry in the list. A record with duration 0 is another zone: if ticks are long (40 ns on some
 * aarch64), the next zone of a loop begins in the same tick. */
static bool was_written(const vpcap_cursor *c, const vpcap_open_zone *z)
{
    const vp__record *r = &c->last_record;
    return r->dur && r->start == z->start && r->what >> 8 == z->name;
}

/* Inserts by start. Frames are usually in order, unless a clock went back. */
static void add_open(vpcap_cursor *c, const vpcap_open_zone *z)
{
    size_t at = c->open_count;
    if (!z->start || z->name >= vpcap_names(c->v) || was_written(c, z))
        return;
    for (; at && (int64_t)(c->open[at - 1].start - z->start) > 0; at--)
        c->open[at] = c->open[at - 1];
    c->open[at] = *z;
    c->open_count++;
    set_last(c, since_start(c, z->start));
}

static vpcap_open_zone zone_of(const vp__frame *f)
{
    uint64_t start = __atomic_load_n(&f->start, __ATOMIC_ACQUIRE);
    uint32_t kind = __atomic_load_n(&f->kind, __ATOMIC_RELAXED);
    vpcap_open_zone z = {.start = start,
                         .name = __atomic_load_n(&f->name, __ATOMIC_RELAXED),
                         .kind = kind & 7,
                         .number = (int64_t)(kind >> 3) - 1};
    if (z.kind == VP__STEP && z.number < 0)
        z.kind = VP__ZONE; /* unknown number */
    return z;
}

static void add_frames(vpcap_cursor *c, const vp__frame *frames)
{
    for (uint32_t i = 0; i < VP__DEPTH; i++) {
        vpcap_open_zone z = zone_of(&frames[i]);
        add_open(c, &z);
    }
}

static const vp__block *block_of(const vpcap_cursor *c)
{
    return c->thread->page < VPCAP_GONE ? vpcap_block_at(c->v, c->thread->page) : NULL;
}

/* Only an interrupted recording has zones that never end. Listed ones are added first, each with
 * the latest start so far; the few frames are inserted among them. */
static void cursor_find_open_zones(vpcap_cursor *c)
{
    const vp__block *b = block_of(c);
    c->open_found = true;
    if (c->v->info.finished && !c->v->info.truncated)
        return;
    for (size_t i = 0; i < c->listed_count; i++)
        add_open(c, &c->v->open[c->listed + i]);
    if (!b)
        return;
    add_frames(c, b->scopes);
    add_frames(c, b->pairs);
}

static void give_open(vpcap_cursor *c, vpcap_event *e)
{
    vpcap_open_zone z = c->open[--c->open_count];
    *e = (vpcap_event){.name = z.name, .track = VPCAP_NONE, .open = true, .args = c->args};
    e->kind = z.kind == VP__COMPILE ? VPCAP_COMPILE : z.kind == VP__STEP ? VPCAP_STEP : VPCAP_ZONE;
    e->number = z.kind == VP__STEP ? z.number : 0;
    cursor_set_times(c, e, z.start, c->v->end_ticks);
    attach_flows(c, e, z.start);
}

uint64_t vpcap_open_zones(const vpcap *v, vpcap_open_fn *fn, void *ctx)
{
    uint64_t n = 0;
    for (uint32_t t = 0; t < vpcap_threads(v); t++) {
        vpcap_cursor *c;
        if (vpcap_cursor_new(&c, v, t) < 0)
            continue;
        cursor_find_open_zones(c);
        n += c->open_count;
        while (fn && c->open_count) {
            vpcap_event e;
            give_open(c, &e);
            fn(ctx, t, &e);
        }
        vpcap_cursor_free(c);
    }
    return n;
}

int64_t vpcap_cursor_last(const vpcap_cursor *c)
{
    return c->last;
}

uint64_t vpcap_cursor_pass(uint32_t *slot, vpcap_cursor *c, uint64_t begin)
{
    uint64_t events = 0;
    vpcap_event e;
    *slot = 0;
    if (!cursor_next_chunk(c))
        return 0;
    while (*slot = c->slot, c->slot < c->head) {
        c->flow_count = 0;
        take_record(c, &e);
        if (e.kind != VPCAP_SPAN && (int64_t)(c->to - begin) >= 0)
            break;
        events += e.kind != VPCAP_LOST && !c->flow_count;
    }
    return events;
}

/* Reports zones that the thread could not record for lack of space. */
static bool give_lost(vpcap_cursor *c, vpcap_event *e)
{
    const vp__block *b = block_of(c);
    uint64_t lost = b ? __atomic_load_n(&b->lost, __ATOMIC_ACQUIRE) : 0;
    c->lost_told = true;
    if (!lost || vpcap_names(c->v) <= VPCAP_NAME_LOST)
        return false;
    *e = (vpcap_event){.name = VPCAP_NAME_LOST,
                       .kind = VPCAP_LOST,
                       .track = VPCAP_NONE,
                       .number = (int64_t)lost,
                       .args = c->args};
    cursor_set_times(c, e, b->lost_since, b->lost_since);
    return true;
}

int vpcap_next(vpcap_cursor *c, vpcap_event *e)
{
    while (c->slot < c->head || cursor_next_chunk(c)) {
        if (c->flow_count == FLOWS_MAX) {
            give_flow(c, e);
            return 1;
        }
        if (take_record(c, e))
            return 1;
    }
    if (!c->lost_told && give_lost(c, e))
        return 1;
    if (!c->open_found)
        cursor_find_open_zones(c);
    if (c->open_count) {
        give_open(c, e);
        return 1;
    }
    if (c->flow_count && vpcap_names(c->v) > VPCAP_NAME_FLOW) {
        give_flow(c, e);
        return 1;
    }
    return 0;
}

/* ---- Notes ---- */

int64_t vpcap_limit_ps(const vpcap *v, const vpcap_notes *m)
{
    return m->limit == INT64_MIN ? INT64_MIN
                                 : vpcap_ps(v, v->head.start.ticks + (uint64_t)m->limit);
}

int vpcap_next_noted(vpcap_cursor *c, vpcap_notes *m, vpcap_event *e)
{
    m->late = m->turned = false;
    if (!vpcap_next(c, e))
        return 0;
    if (e->kind == VPCAP_SPAN || e->kind == VPCAP_COUNTER)
        return 1;
    int64_t start = since_start(c, c->from), end = since_start(c, c->to);
    m->late = start <= m->limit;
    vpcap_note(m, end > start ? end : start, 1);
    return 1;
}

/* ---- Plain zones ---- */

/* The next records of a chunk, and the limits within which they are plain zones. */
typedef struct plain_run {
    const uint64_t *at; /* two words each */
    uint32_t n;         /* number that the current block still accepts */
    uint32_t names;
    uint64_t start;      /* of the recording */
    uint64_t from, room; /* plain zones start in [from, from + room), in ticks since `start` */
} plain_run;

static plain_run plain_ahead(const vpcap_cursor *c, const vpcap_notes *m)
{
    uint32_t names = vpcap_names(c->v), n = m->block - m->in_block;
    uint64_t from = m->limit < 0 ? 0 : (uint64_t)m->limit + 1, to = c->v->plain_ticks;
    if (c->flow_count || c->v->head.cut_ticks || c->slot >= c->head)
        return (plain_run){0};
    return (plain_run){.at = (const uint64_t *)(c->base + (size_t)c->slot * VP__SLOT),
                       .n = c->head - c->slot < n ? c->head - c->slot : n,
                       .names = names <= VP__NAME_MAX ? names : VP__NAME_MAX + 1,
                       .start = c->v->head.start.ticks,
                       .from = from,
                       .room = from < to ? to - from : 0};
}

/* Reads the i-th record if it is a plain zone. `what` minus that of a plain zone, rotated by 8
 * bits, is the name; if kind or item count differ from those of a plain zone, it has bits above the
 * name. So one comparison with the number of names checks both. */
static inline bool plain_at(const plain_run *k, uint32_t i, uint64_t *start, uint64_t *end,
                            uint32_t *name)
{
    uint64_t ticks = __atomic_load_n(&k->at[2 * (size_t)i], __ATOMIC_RELAXED);
    uint64_t rest = __atomic_load_n(&k->at[2 * (size_t)i + 1], __ATOMIC_RELAXED);
    uint32_t what = (uint32_t)(rest >> 32) - VP__WHAT(0, 0, VP__ZONE);
    *name = what >> 8 | what << 24;
    *start = ticks - k->start;
    *end = *start + (uint32_t)rest;
    return *name < k->names && *start - k->from < k->room;
}

/* Skips n plain records; `latest` is the latest of their ends. */
static void cursor_pass_plain(vpcap_cursor *c, vpcap_notes *m, uint32_t n, uint64_t latest)
{
    if (!n)
        return;
    c->slot += n;
    c->last_record = record_at(c, c->slot - 1);
    set_last(c, (int64_t)latest);
    vpcap_note(m, (int64_t)latest, n);
}

uint32_t vpcap_take_plain(vpcap_cursor *c, vpcap_notes *m, vpcap_plain *out, uint32_t n)
{
    const plain_run k = plain_ahead(c, m);
    const uint64_t rate = c->v->ps_per_tick;
    uint64_t start, end, latest = 0;
    uint32_t i = 0, name;
    m->turned = false;
    for (n = n < k.n ? n : k.n; i < n && plain_at(&k, i, &start, &end, &name); i++) {
        int64_t from = vpcap_scaled(start, rate), to = vpcap_scaled(end, rate);
        out[i] = (vpcap_plain){from, to - from, name, 0};
        latest = end > latest ? end : latest;
    }
    cursor_pass_plain(c, m, i, latest);
    return i;
}

static uint32_t skip_plain(vpcap_cursor *c, vpcap_notes *m)
{
    const plain_run k = plain_ahead(c, m);
    uint64_t start, end, latest = 0;
    uint32_t i = 0, name;
    for (; i < k.n && plain_at(&k, i, &start, &end, &name); i++)
        latest = end > latest ? end : latest;
    cursor_pass_plain(c, m, i, latest);
    return i;
}

int vpcap_next_notable(vpcap_cursor *c, vpcap_notes *m, vpcap_event *e)
{
    for (;;) {
        for (uint32_t n; (n = skip_plain(c, m)) > 0;)
            m->passed += n;
        if (!vpcap_next_noted(c, m, e))
            return 0;
        if (m->late || e->kind == VPCAP_SPAN || e->kind == VPCAP_COUNTER || e->kind == VPCAP_STEP ||
            e->flow_in || e->flow_out || e->correlation)
            return 1;
        m->passed++;
    }
}
