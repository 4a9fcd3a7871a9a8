/* Decodes events into columns: the hot loop of the reader, run by any thread. */
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/vpcap/xspace_fields.h"
#include "trace/read/semantics/attrs.h"
#include "trace/read/semantics/roles.h"
#include "trace/read/xspace/xs_part.h"

/* An event without its names. */
typedef struct raw_event {
    int64_t metadata_id, offset, duration;
    int64_t device_offset, device_duration;
    uint64_t key; /* a hash of the stats that define a kind; 0: none */
    uint64_t producer_type, consumer_type;
    int64_t ordinal;
    uint64_t seen; /* a bit for each xs_stat_role; the members below are only set if their bit is */
    bool aggregated, says; /* says: has stats */
    uint64_t producer, consumer, lost;
    vp_str allocator;       /* its name; empty if it is a reference */
    uint64_t allocator_ref; /* the stat with its name */
    sink_extra x;
} raw_event;

#define SEEN(e, role) ((e)->seen >> (role)&1u)
#define OWN_CLOCK (UINT64_C(1) << XS_STAT_DEVICE_OFFSET | UINT64_C(1) << XS_STAT_DEVICE_DURATION)

static void use_attr(raw_event *e, xs_stat_role role, uint64_t u, vp_str text)
{
    static const uint8_t attrs[XS_STAT_ROLES - XS_STAT_ATTRS] = {
        [XS_STAT_CORRELATION - XS_STAT_ATTRS] = SINK_CORRELATION,
        [XS_STAT_STEP_NUM - XS_STAT_ATTRS] = SINK_STEP,
        [XS_STAT_ITER_NUM - XS_STAT_ATTRS] = SINK_STEP,
        [XS_STAT_ROOT - XS_STAT_ATTRS] = SINK_ROOT,
        [XS_STAT_GROUP - XS_STAT_ATTRS] = SINK_GROUP,
        [XS_STAT_RUN - XS_STAT_ATTRS] = SINK_RUN,
        [XS_STAT_ALL_REDUCE - XS_STAT_ATTRS] = SINK_RUN,
        [XS_STAT_MEM_DELTA - XS_STAT_ATTRS] = SINK_MEM_DELTA,
        [XS_STAT_MEM_USED - XS_STAT_ATTRS] = SINK_MEM_USED,
        [XS_STAT_MEM_FREE - XS_STAT_ATTRS] = SINK_MEM_FREE,
        [XS_STAT_MEM_RESERVED - XS_STAT_ATTRS] = SINK_MEM_RESERVED,
        [XS_STAT_MEM_DEVICE - XS_STAT_ATTRS] = SINK_MEM_DEVICE,
        [XS_STAT_MEM_ADDRESS - XS_STAT_ATTRS] = SINK_MEM_ADDRESS,
        [XS_STAT_MEM_LIFETIME - XS_STAT_ATTRS] = SINK_MEM_LIFETIME,
        [XS_STAT_MEM_FRAGMENTED - XS_STAT_ATTRS] = SINK_MEM_FRAGMENTED,
    };
    sink_attr a = (sink_attr)attrs[role - XS_STAT_ATTRS];
    if (role == XS_STAT_ALLOCATOR) {
        e->allocator = text;
        e->allocator_ref = u;
        return;
    }
    if (role == XS_STAT_FLOW) {
        rd_flow_attrs(&e->x, u);
        return;
    }
    /* Skips the weaker of two stats for one attribute, and a correlation of 0, which means none. */
    if ((role == XS_STAT_ITER_NUM || role == XS_STAT_RUN) && rd_has_attr(&e->x, a))
        return;
    if ((int64_t)u == SINK_NO_VALUE || text.n || (role == XS_STAT_CORRELATION && !u))
        return;
    sink_extra_set(&e->x, a, (int64_t)u);
}

static inline void use_own_clock(raw_event *e, xs_stat_role role, uint64_t u)
{
    e->seen |= UINT64_C(1) << role;
    if (role == XS_STAT_DEVICE_OFFSET)
        e->device_offset = (int64_t)u;
    else
        e->device_duration = (int64_t)u;
}

static void use_stat(raw_event *e, xs_stat_role role, uint64_t u, vp_str text)
{
    if (role >= XS_STAT_ATTRS) {
        use_attr(e, role, u, text);
        return;
    }
    if (role >= XS_STAT_HLO_PROTO && role <= XS_STAT_CATEGORY)
        return; /* of planes, and of events that are not ops */
    e->seen |= UINT64_C(1) << role;
    switch (role) {
    case XS_STAT_DEVICE_OFFSET:
    case XS_STAT_DEVICE_DURATION:
        use_own_clock(e, role, u);
        break;
    case XS_STAT_ORDINAL:
        e->ordinal = (int64_t)u;
        break;
    case XS_STAT_PRODUCER:
        e->producer = u;
        break;
    case XS_STAT_PRODUCER_TYPE:
        e->producer_type = u;
        break;
    case XS_STAT_CONSUMER:
        e->consumer = u;
        break;
    case XS_STAT_CONSUMER_TYPE:
        e->consumer_type = u;
        break;
    case XS_STAT_LOST:
        e->lost = u;
        break;
    case XS_STAT_OTHER:
        break;
    default:
        e->key += vp_mix((text.n ? vp_hash(text.p, text.n, 7) : u) * 64 + (uint64_t)role);
    }
}

/* Readable bytes after the end of an event: numbers are decoded eight bytes at once. Their content
 * has no effect. */
#define PAD 8

/* Reads a varint at *p, with PAD bytes readable after `end`. false: it exceeds `end`, or is longer
 * than 10 bytes. */
static inline bool read_padded_varint(const uint8_t **p, const uint8_t *end, uint64_t *out)
{
    const uint8_t *at = *p;
    uint64_t v, last;
    if (at < end && *at < 0x80) {
        *out = *at;
        *p = at + 1;
        return true;
    }
    memcpy(&v, at, 8);
    last = ~v & UINT64_C(0x8080808080808080);
    if (!last) { /* longer than eight bytes */
        vp_pb r = {at, end};
        bool ok = vp_pb_varint(&r, out);
        *p = r.p;
        return ok;
    }
    *p = at + ((unsigned)__builtin_ctzll(last) >> 3) + 1;
    v &= (last ^ (last - 1)) & UINT64_C(0x7f7f7f7f7f7f7f7f);
    v = (v & UINT64_C(0x007f007f007f007f)) | (v & UINT64_C(0x7f007f007f007f00)) >> 1;
    v = (v & UINT64_C(0x00003fff00003fff)) | (v & UINT64_C(0x3fff00003fff0000)) >> 2;
    *out = (v & UINT64_C(0x0fffffff)) | (v & UINT64_C(0x0fffffff00000000)) >> 4;
    return *p <= end;
}

static __attribute__((noinline)) void read_any_stat(const xs_plane *pl, raw_event *e,
                                                    const uint8_t *p, const uint8_t *end)
{
    vp_pb r = {p, end};
    vp_pb_field f;
    uint64_t id = 0, u = 0;
    vp_str text = VP_STR_NONE;
    while (vp_pb_next(&r, &f) > 0) {
        if (f.number == XSTAT_METADATA_ID)
            id = f.u;
        else if (f.number <= XSTAT_REF_VALUE) {
            u = f.u;
            text = f.wire == VP_PB_LEN ? f.data : VP_STR_NONE;
        }
    }
    use_stat(e, xs_plane_role(pl, (int64_t)id), u, text);
}

static inline void use_number(raw_event *e, xs_stat_role role, uint64_t u)
{
    if (role == XS_STAT_DEVICE_OFFSET || role == XS_STAT_DEVICE_DURATION)
        use_own_clock(e, role, u);
    else if (role != XS_STAT_OTHER)
        use_stat(e, role, u, VP_STR_NONE);
}

/* Mask of a stat's first eight bytes within its event: its tag, the bit for a length below 128, tag
 * and single byte of its metadata id, tag of its value. */
#define GUESS_MASK UINT64_C(0x000000ffffff80ff)

/* Reads the XStat in [p, end): a metadata id and a value. The usual form, in this order and with a
 * number, is decoded directly. If its first bytes, `bits`, contain nothing else, they become the
 * guess for the next event. */
static inline void decode_stat(const xs_plane *pl, raw_event *e, const uint8_t *p,
                               const uint8_t *end, xs_guess *guess, uint64_t bits)
{
    const uint8_t *at = p + 1;
    uint64_t id, u;
    if (end - p > 2 && *p == XSTAT_METADATA_ID_TAG) {
        if (!read_padded_varint(&at, end, &id))
            return;
        xs_stat_role role = xs_plane_role(pl, (int64_t)id);
        bool short_id = at == p + 2;
        if (role == XS_STAT_OTHER)
            return;
        if (at < end && (*at++ & 7) == VP_PB_VARINT && read_padded_varint(&at, end, &u) &&
            at == end) {
            use_number(e, role, u);
            if (short_id && end - p < 0x80)
                *guess = (xs_guess){bits & GUESS_MASK, role};
            return;
        }
    }
    read_any_stat(pl, e, p, end);
}

static inline bool decode_usual_field(const uint8_t **p, const uint8_t *end, uint8_t tag,
                                      int64_t *out)
{
    uint64_t v;
    if (*p == end || **p != tag)
        return true;
    ++*p;
    if (!read_padded_varint(p, end, &v))
        return false;
    *out = (int64_t)v;
    return true;
}

/* Reads the first fields of an event in their usual order; the rest is read field by field. */
static inline bool take_usual(raw_event *e, const uint8_t **p, const uint8_t *end)
{
    return decode_usual_field(p, end, XEVENT_METADATA_ID_TAG, &e->metadata_id) &&
           decode_usual_field(p, end, XEVENT_OFFSET_PS_TAG, &e->offset) &&
           decode_usual_field(p, end, XEVENT_DURATION_PS_TAG, &e->duration);
}

static inline bool take_stat(const xs_plane *pl, raw_event *e, const uint8_t **p,
                             const uint8_t *end, xs_guess *guess)
{
    const uint8_t *from = *p, *at = from + 5;
    uint64_t bits, n, u;
    memcpy(&bits, from, 8);
    e->says = true;
    if ((bits & GUESS_MASK) == guess->bits && from[1] <= end - from - 2) {
        const uint8_t *stop = from + 2 + from[1];
        if (read_padded_varint(&at, stop, &u) && at == stop) {
            use_number(e, guess->role, u);
            *p = stop;
            return true;
        }
    }
    ++*p;
    if (!read_padded_varint(p, end, &n) || n > (uint64_t)(end - *p))
        return false;
    decode_stat(pl, e, *p, *p + n, guess, bits);
    *p += n;
    return true;
}

static __attribute__((noinline)) bool take_other(raw_event *e, const uint8_t **p,
                                                 const uint8_t *end)
{
    vp_pb r = {*p, end};
    vp_pb_field f;
    if (vp_pb_next(&r, &f) <= 0)
        return false;
    *p = r.p;
    if (f.wire != VP_PB_VARINT)
        return true;
    if (f.number == XEVENT_METADATA_ID)
        e->metadata_id = (int64_t)f.u;
    else if (f.number == XEVENT_OFFSET_PS)
        e->offset = (int64_t)f.u;
    else if (f.number == XEVENT_DURATION_PS)
        e->duration = (int64_t)f.u;
    else if (f.number == XEVENT_NUM_OCCURRENCES)
        e->aggregated = e->aggregated || f.u;
    return true;
}

/* PAD bytes must be readable after `end`. false: the event is damaged. */
static bool decode_event(const xs_plane *pl, raw_event *e, const uint8_t *p, const uint8_t *end,
                         xs_guess *guess)
{
    /* Sets single fields: clearing the whole struct took an eighth of the reader's time. */
    e->metadata_id = e->offset = e->duration = 0;
    e->device_offset = e->device_duration = e->ordinal = 0;
    e->key = e->producer_type = e->consumer_type = 0;
    e->seen = e->x.has = 0;
    e->allocator = VP_STR_NONE;
    e->allocator_ref = UINT64_MAX;
    e->aggregated = e->says = false;
    if (!take_usual(e, &p, end))
        return false;
    for (unsigned i = 0; p < end; i++)
        if (!(*p == XEVENT_STATS_TAG ? take_stat(pl, e, &p, end, &guess[i % XS_GUESSES])
                                     : take_other(e, &p, end)))
            return false;
    return true;
}

static bool in_range(int64_t start, int64_t dur)
{
    return start >= -VP_TIME_MAX_PS && start <= VP_TIME_MAX_PS && dur <= VP_TIME_MAX_PS &&
           start + dur <= VP_TIME_MAX_PS;
}

/* State for decoding one run. */
typedef struct decoding {
    const xs_reader *r;
    xs_part *p;
    xs_decoder *d;
    xs_run *run;
    const xs_line_ctx *c;
    uint64_t keys; /* mixed into keys, so that keys of other runs do not match */
    int64_t last_dur;
} decoding;

/* True if all times are small, the common case, so that none needs another check. */
static inline bool all_small(const raw_event *e, int64_t start)
{
    const uint64_t half = (uint64_t)VP_TIME_MAX_PS / 2;
    return ((((uint64_t)start + half) | ((uint64_t)e->device_offset + half)) <= 2 * half - 1) &&
           ((uint64_t)e->duration | (uint64_t)e->device_duration) < half;
}

/* Corrects times if possible; false: counted as unusable. */
static __attribute__((noinline)) bool mend_times(xs_part *part, raw_event *e, int64_t base_ps)
{
    int64_t start;
    if (e->duration < 0 || e->device_duration < 0) {
        part->negative++;
        e->duration = e->duration < 0 ? 0 : e->duration;
        e->device_duration = e->device_duration < 0 ? 0 : e->device_duration;
    }
    if (__builtin_add_overflow(base_ps, e->offset, &start) || !in_range(start, e->duration) ||
        !in_range(e->device_offset, e->device_duration)) {
        part->bad_time++;
        return false;
    }
    return true;
}

/* Reads an event and checks its times; false: counted as unusable. */
static inline bool decode_usable_event(decoding *g, raw_event *e, const uint8_t *p,
                                       const uint8_t *end)
{
    xs_part *part = g->p;
    int64_t start;
    if (!decode_event(g->c->plane, e, p, end, g->d->guess)) {
        part->bad_time++;
        return false;
    }
    if (e->aggregated) {
        part->aggregated++;
        return false;
    }
    bool over = __builtin_add_overflow(g->c->base_ps, e->offset, &start);
    if ((over || !all_small(e, start)) && !mend_times(part, e, g->c->base_ps))
        return false;
    e->offset = start;
    part->first_ps = start < part->first_ps ? start : part->first_ps;
    part->last_ps = start + e->duration > part->last_ps ? start + e->duration : part->last_ps;
    return true;
}

static uint64_t producer_key(const raw_event *e)
{
    return (uint64_t)rd_flow_key(e->producer_type, e->producer);
}

static uint64_t consumer_key(const raw_event *e)
{
    return (uint64_t)rd_flow_key(e->consumer_type, e->consumer);
}

static void close_attrs(raw_event *e)
{
    if (SEEN(e, XS_STAT_PRODUCER))
        sink_extra_set(&e->x, SINK_FLOW_OUT, (int64_t)producer_key(e));
    if (SEEN(e, XS_STAT_CONSUMER))
        sink_extra_set(&e->x, SINK_FLOW_IN, (int64_t)consumer_key(e));
}

/* ---- Kinds ---- */

static int part_add_kind(decoding *g, xs_part_kind k, uint32_t *kind)
{
    xs_part *p = g->p;
    VP_TRY(vp_grow(&p->kinds, &p->kinds_cap, p->kind_n + 1, sizeof k, VP_INTERN_MAX));
    *kind = (uint32_t)p->kind_n;
    k.longest.dur_ps = -1;
    p->kinds[p->kind_n++] = k;
    return 0;
}

static __attribute__((noinline)) int meet_meta(decoding *g, size_t i)
{
    xs_decoder *d = g->d;
    uint32_t meta = i < g->c->plane->meta_count ? (uint32_t)i : SINK_NONE;
    VP_TRY(part_add_kind(g, (xs_part_kind){.meta = meta}, &d->local[i]));
    d->stamp[i] = d->run;
    return 0;
}

/* The kind of the metadata. meta NULL: unknown metadata, which counts as one more. */
static inline int kind_of_meta(decoding *g, const xs_meta *meta, uint32_t *kind)
{
    const xs_plane *pl = g->c->plane;
    size_t i = meta ? (size_t)(meta - pl->meta) : pl->meta_count;
    const xs_decoder *d = g->d;
    if (d->stamp[i] != d->run)
        VP_TRY(meet_meta(g, i));
    *kind = d->local[i];
    return 0;
}

static int kind_of_event(decoding *g, const xs_meta *meta, uint64_t key, vp_str event, bool cpu_op,
                         uint32_t *kind)
{
    uint32_t i = (uint32_t)(meta - g->c->plane->meta);
    uint64_t here = (key ^ g->keys) + vp_mix((uint64_t)i << 1 | (cpu_op ? 1u : 0u));
    *kind = vp_map_get(&g->d->keys, here);
    if (*kind != VP_MAP_NONE)
        return 0;
    xs_part_kind k = {.key = key,
                      .meta = i,
                      .cpu_op = cpu_op,
                      .event = (size_t)((const uint8_t *)event.p - g->p->bytes),
                      .event_n = event.n};
    VP_TRY(part_add_kind(g, k, kind));
    return vp_map_set(&g->d->keys, here, *kind);
}

static bool is_end_event(const xs_plane *pl, xs_meta *meta)
{
    int known = atomic_load_explicit(&meta->is_end, memory_order_relaxed);
    if (known == XS_END_UNKNOWN) {
        vp_str name, display;
        xs_meta_decode(pl, meta->bytes, &name, &display, NULL);
        known = vp_str_starts(name, VP_STR("end: ")) ? XS_END_YES : XS_END_NO;
        atomic_store_explicit(&meta->is_end, (uint8_t)known, memory_order_relaxed);
    }
    return known == XS_END_YES;
}

/* ---- Events ---- */

/* Adds the attributes of the next event. */
static __attribute__((noinline)) int part_put_attrs(decoding *g, const sink_extra *x)
{
    xs_part *p = g->p;
    for (uint32_t has = x->has & ((1u << SINK_ATTRS) - 1); has; has &= has - 1) {
        uint32_t a = (uint32_t)__builtin_ctz(has);
        VP_TRY(vp_grow(&p->values, &p->value_cap, p->value_n + 1, sizeof *p->values,
                       XS_PART_EVENTS * 4 * SINK_ATTRS));
        p->values[p->value_n++] = (sink_value){(uint32_t)g->run->own.s.n, a, x->v[a]};
    }
    return 0;
}

/* Rare, so it is not inlined into `pack_event_times`. Returns the packed duration. */
static __attribute__((noinline)) int64_t pack_long_duration(const xs_clock *c, xs_beside *b,
                                                            int64_t dur)
{
    VP_TRY(vp_grow(&b->longs, &b->long_cap, b->long_n + 1, sizeof *b->longs, SINK_PACKED_LONGS));
    b->longs[b->long_n] = dur;
    return SINK_PACKED_LONG + (int64_t)(b->long_n++ - c->long_first);
}

static __attribute__((noinline)) int put_far(const xs_clock *c, xs_beside *b, int64_t start)
{
    VP_TRY(vp_grow(&b->far, &b->far_cap, b->far_n + 1, sizeof *b->far, VP_EVENTS_MAX));
    b->far[b->far_n++] = (sink_far){c->s.n, start};
    return 0;
}

/* Appends an event to those of a clock. */
static inline int pack_event_times(xs_clock *c, xs_beside *b, int64_t start, int64_t dur,
                                   uint32_t kind)
{
    int64_t packed = sink_pack_dur(dur);
    size_t n = c->s.n;
    if (!n)
        c->s.first_ps = c->s.least_ps = c->s.most_ps = c->last_ps = start;
    if (!sink_is_near(start, c->last_ps))
        VP_TRY(put_far(c, b, start));
    if (packed == SINK_PACKED_LONG)
        packed = pack_long_duration(c, b, dur);
    if (packed < 0)
        return (int)packed;
    c->s.least_ps = start < c->s.least_ps ? start : c->s.least_ps;
    c->s.most_ps = start > c->s.most_ps ? start : c->s.most_ps;
    c->last_ps = start;
    sink_pack(&c->s.v[n], start, (uint32_t)packed, kind);
    c->s.n = n + 1;
    return 0;
}

static inline int part_put_event(decoding *g, const raw_event *e, int64_t start, int64_t dur,
                                 uint32_t kind)
{
    xs_run *run = g->run;
    if (e->x.has && (g->r->want_host || g->c->plane->graphs))
        VP_TRY(part_put_attrs(g, &e->x));
    if (!run->own.s.n)
        run->first_dur_ps = dur;
    else if (start < run->own.last_ps || (start == run->own.last_ps && dur > g->last_dur))
        run->sorted = false;
    g->last_dur = dur;
    return pack_event_times(&run->own, &g->p->own, start, dur, kind);
}

static void note_longest(sink_longest *l, int64_t start, int64_t dur, int64_t aligned)
{
    if (dur > l->dur_ps || (dur == l->dur_ps && start < l->start_ps))
        *l = (sink_longest){.dur_ps = dur, .start_ps = start, .aligned_start_ps = aligned};
}

/* Copies the events so far, which had one clock only, to the host's clock. */
static int begin_other_clock(decoding *g)
{
    xs_run *run = g->run;
    xs_beside *from = &g->p->own, *to = &g->p->other;
    sink_packed *v = run->other.s.v;
    size_t far = from->far_n - run->own.far_first;
    run->own_clock = true;
    if (g->c->few_places || !run->own.s.n)
        return 0;
    VP_TRY(vp_grow(&to->far, &to->far_cap, to->far_n + far, sizeof *to->far, VP_EVENTS_MAX));
    for (size_t i = 0; i < far; i++)
        to->far[to->far_n++] = from->far[run->own.far_first + i];
    sink_pack_beside(v, run->own.s.v, run->own.s.n);
    run->other.last_ps = run->own.last_ps;
    run->other.s = run->own.s;
    run->other.s.v = v;
    return 0;
}

static int device_event(decoding *g, raw_event *e, xs_meta *meta, vp_str event)
{
    uint32_t kind;
    uint64_t key = e->key + g->c->label_hash;
    VP_TRY(meta && key ? kind_of_event(g, meta, key, event, false, &kind)
                       : kind_of_meta(g, meta, &kind));
    bool own_clock = (e->seen & OWN_CLOCK) == OWN_CLOCK;
    int64_t start = own_clock ? e->device_offset : e->offset;
    int64_t dur = own_clock ? e->device_duration : e->duration;
    if (own_clock && !g->run->own_clock)
        VP_TRY(begin_other_clock(g));
    if (g->c->few_places)
        note_longest(&g->p->kinds[kind].longest, start, dur, e->offset);
    else if (g->run->own_clock)
        VP_TRY(pack_event_times(&g->run->other, &g->p->other, e->offset,
                                sink_dur_beside(e->duration, dur), 0));
    return part_put_event(g, e, start, dur, kind);
}

static int add_cpu_op(decoding *g, const raw_event *e, const xs_meta *meta, vp_str event)
{
    xs_part *p = g->p;
    xs_cpu_op op = {.start_ps = e->offset,
                    .end_ps = e->offset + e->duration,
                    .run = SINK_NO_VALUE,
                    .ordinal = e->ordinal};
    VP_TRY(kind_of_event(g, meta, e->key, event, true, &op.kind));
    if (SEEN(e, XS_STAT_PRODUCER))
        op.key = producer_key(e);
    if (rd_has_attr(&e->x, SINK_RUN))
        op.run = e->x.v[SINK_RUN];
    VP_TRY(vp_grow(&p->ops, &p->op_cap, p->op_n + 1, sizeof op, VP_EVENTS_MAX));
    p->ops[p->op_n++] = op;
    return 0;
}

static int add_cpu_end(xs_part *p, const raw_event *e)
{
    VP_TRY(vp_grow(&p->ends, &p->end_cap, p->end_n + 1, sizeof *p->ends, VP_EVENTS_MAX));
    p->ends[p->end_n++] = (xs_cpu_end){consumer_key(e), e->offset + e->duration};
    return 0;
}

static int add_special(decoding *g, xs_special_what what, const raw_event *e, vp_str event,
                       uint32_t kind)
{
    xs_part *p = g->p;
    VP_TRY(vp_grow(&p->specials, &p->special_cap, p->special_n + 1, sizeof *p->specials,
                   VP_EVENTS_MAX));
    p->specials[p->special_n++] =
        (xs_special){.what = what,
                     .kind = kind,
                     .start_ps = e->offset,
                     .dur_ps = e->duration,
                     .event = (size_t)((const uint8_t *)event.p - p->bytes),
                     .event_n = event.n};
    return 0;
}

/* Shows a host event on its thread, or notes that it belongs to another track. */
static int show_host_event(decoding *g, raw_event *e, xs_meta *meta, vp_str event)
{
    uint32_t kind;
    bool allocator = !e->duration && rd_has_attr(&e->x, SINK_MEM_USED);
    bool own = SEEN(e, XS_STAT_UNFINISHED) || (allocator && e->key); /* allocators name an op */
    VP_TRY(meta && own ? kind_of_event(g, meta, e->key, event, false, &kind)
                       : kind_of_meta(g, meta, &kind));
    if (g->r->is_ours && e->says)
        VP_TRY(add_special(g, XS_SPECIAL_ARGS, e, event, kind));
    if (SEEN(e, XS_STAT_LOST))
        return add_special(g, XS_SPECIAL_LOST, e, event, kind);
    if (allocator)
        return add_special(g, XS_SPECIAL_ALLOCATOR, e, event, kind);
    return part_put_event(g, e, e->offset, e->duration, kind);
}

/* Handles a host event. It is shown on its thread, and may also be an op of XLA:CPU, or the end of
 * one. */
static int decode_host_event(decoding *g, raw_event *e, xs_meta *meta, vp_str event)
{
    if (meta && g->c->cpu_ops && SEEN(e, XS_STAT_HLO_OP))
        VP_TRY(add_cpu_op(g, e, meta, event));
    else if (meta && g->c->cpu_ops && SEEN(e, XS_STAT_CONSUMER) && is_end_event(g->c->plane, meta))
        VP_TRY(add_cpu_end(g->p, e));
    if (g->r->want_host)
        return show_host_event(g, e, meta, event);
    g->p->skipped++;
    return 0;
}

static int decode_one_event(decoding *g, const uint8_t *p, const uint8_t *end)
{
    raw_event e;
    if (!decode_usable_event(g, &e, p, end)) {
        g->p->skipped++;
        return 0;
    }
    xs_meta *meta = xs_plane_meta(g->c->plane, e.metadata_id);
    vp_str event = {(const char *)p, (size_t)(end - p)};
    if (g->r->want_host)
        close_attrs(&e);
    return g->c->device ? device_event(g, &e, meta, event) : decode_host_event(g, &e, meta, event);
}

/* ---- Runs ---- */

/* Fields other than events were read when the line was cut. So events are complete, unless the file
 * changes while it is read. */
static int walk_events(decoding *g, const uint8_t *p, const uint8_t *end)
{
    const uint8_t *begin = p;
    uint64_t left = g->run->events;
    while (p < end) {
        vp_pb r = {p, end};
        vp_pb_field f;
        uint64_t n;
        if (*p == XLINE_EVENTS_TAG) {
            r.p++;
            if (!left-- || !vp_pb_varint(&r, &n) || n > (uint64_t)(end - r.p))
                break;
            VP_TRY(decode_one_event(g, r.p, r.p + n));
            p = r.p + n;
        } else {
            if (vp_pb_next(&r, &f) <= 0)
                break;
            p = r.p;
        }
    }
    if (p < end && g->p->damage < 0)
        g->p->damage = g->run->offset + (p - begin);
    return 0;
}

static int decoder_reset_run(xs_decoder *d, const xs_plane *pl)
{
    size_t need = pl->meta_count + 1, had = d->stamp_cap;
    memset(d->guess, 0, sizeof d->guess);
    VP_TRY(vp_grow(&d->local, &d->local_cap, need, sizeof *d->local, SIZE_MAX / 8));
    VP_TRY(vp_grow(&d->stamp, &d->stamp_cap, need, sizeof *d->stamp, SIZE_MAX / 8));
    memset(d->stamp + had, 0, (d->stamp_cap - had) * sizeof *d->stamp);
    if (d->keys.count > XS_PART_EVENTS)
        vp_map_free(&d->keys);
    if (++d->run == 0) {
        memset(d->stamp, 0, d->stamp_cap * sizeof *d->stamp);
        d->run = 1;
    }
    return 0;
}

static int decode_run(xs_part *p, xs_run *run, xs_decoder *d, const xs_reader *r)
{
    decoding g = {.r = r, .p = p, .d = d, .run = run, .c = &run->line};
    size_t n = (size_t)(run->end - run->offset), got = 0;
    uint8_t *at = p->bytes + p->bytes_n;
    VP_TRY(decoder_reset_run(d, run->line.plane));
    g.keys = vp_mix(d->run);
    if (run->buffer)
        run->own.s.v = run->buffer->m.own + run->at;
    if (run->buffer && run->buffer->m.aligned)
        run->other.s.v = run->buffer->m.aligned + run->at;
    VP_TRY(rd_source_read(r->w.source, at, n, run->offset, &got));
    memset(at + got, 0, PAD);
    p->bytes_n += got;
    if (got < n && p->damage < 0)
        p->damage = run->offset + (int64_t)got;
    return walk_events(&g, at, at + got);
}

static int decode_part(xs_part *p, xs_decoder *d, const xs_reader *r)
{
    VP_TRY(vp_grow(&p->bytes, &p->bytes_cap, (size_t)p->bytes_wanted + PAD, 1,
                   VP_XPLANE_META_MAX + XS_PART_BYTES));
    for (size_t i = 0; i < p->run_n; i++) {
        xs_run *run = &p->runs[i];
        run->sorted = true;
        run->own.long_first = p->own.long_n;
        run->own.far_first = p->own.far_n;
        run->other.long_first = p->other.long_n;
        run->other.far_first = p->other.far_n;
        if (run->offset < run->end)
            VP_TRY(decode_run(p, run, d, r));
        run->own.s.long_n = p->own.long_n - run->own.long_first;
        run->own.s.far_n = p->own.far_n - run->own.far_first;
        run->other.s.long_n = p->other.long_n - run->other.long_first;
        run->other.s.far_n = p->other.far_n - run->other.far_first;
        run->kind_end = p->kind_n;
        run->value_end = p->value_n;
        run->special_end = p->special_n;
        run->op_end = p->op_n;
        run->cpu_end_end = p->end_n;
    }
    return 0;
}

void xs_part_decode(xs_part *p, xs_decoder *d, const xs_reader *r)
{
    p->status = decode_part(p, d, r);
    if (p->status < 0)
        p->error = *vp_error_last();
}

int xs_part_add(xs_part *p, const xs_run *run)
{
    VP_TRY(vp_grow(&p->runs, &p->run_cap, p->run_n + 1, sizeof *run, XS_PART_RUNS));
    p->runs[p->run_n++] = *run;
    p->bytes_wanted += (uint64_t)(run->end - run->offset);
    p->events_wanted += run->events;
    return 0;
}

void xs_part_clear(xs_part *p)
{
    p->run_n = p->bytes_n = p->kind_n = p->value_n = p->special_n = p->op_n = p->end_n = 0;
    p->own.long_n = p->own.far_n = p->other.long_n = p->other.far_n = 0;
    p->bytes_wanted = p->events_wanted = 0;
    p->negative = p->bad_time = p->aggregated = p->skipped = 0;
    p->first_ps = INT64_MAX;
    p->last_ps = INT64_MIN;
    p->damage = -1;
    p->status = 0;
}

static void beside_free(xs_beside *b)
{
    vp_free(b->longs);
    vp_free(b->far);
}

void xs_part_free(xs_part *p)
{
    beside_free(&p->own);
    beside_free(&p->other);
    vp_free(p->runs);
    vp_free(p->bytes);
    vp_free(p->kinds);
    vp_free(p->values);
    vp_free(p->specials);
    vp_free(p->ops);
    vp_free(p->ends);
    vp_free(p->longest);
    vp_free(p->global);
    *p = (xs_part){0};
}

void xs_decoder_free(xs_decoder *d)
{
    vp_free(d->stamp);
    vp_free(d->local);
    vp_map_free(&d->keys);
}

void xs_event_look(xs_event_facts *out, const xs_plane *pl, vp_str event)
{
    raw_event e;
    const uint8_t *p = (const uint8_t *)event.p;
    xs_guess guess[XS_GUESSES] = {{0}};
    decode_event(pl, &e, p, p + event.n, guess);
    close_attrs(&e);
    *out = (xs_event_facts){e.x, e.lost, e.allocator, e.allocator_ref};
}
