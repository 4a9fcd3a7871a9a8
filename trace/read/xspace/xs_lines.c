/* Lines and their events: the hot loop of the reader. */
#include <stdio.h>

#include "trace/base/limits.h"
#include "trace/image/xspace_fields.h"
#include "trace/read/names/attrs.h"
#include "trace/read/names/roles.h"
#include "trace/read/xspace/xs_read.h"

/* So many places where zones are missing are named one by one. A warning of the file has their sum.
 */
#define LOST_SAID_MAX 16u

typedef int event_fn(xs_line_ctx *c, const uint8_t *p, const uint8_t *end);

static int damaged(xs_reader *r, int64_t at)
{
    if (r->first_damage < 0)
        r->first_damage = at;
    return 0;
}

static void line_field(xs_line_ctx *c, const vp_pb_field *f)
{
    bool text = f->wire == VP_PB_LEN;
    if (f->number == XLINE_ID && !text)
        c->id = (int64_t)f->u;
    else if (f->number == XLINE_TIMESTAMP_NS && !text)
        c->timestamp_ns = (int64_t)f->u;
    else if (text && f->data.n &&
             (f->number == XLINE_DISPLAY_NAME || (f->number == XLINE_NAME && !c->name_n))) {
        c->name_n = f->data.n < sizeof c->name ? f->data.n : sizeof c->name;
        memcpy(c->name, f->data.p, c->name_n);
    }
}

/* Takes one field at p: an event goes to fn, all others to the header. Returns the bytes consumed;
 * 0: more bytes are needed, or it is damaged; < 0: failed. */
static int64_t one_field(xs_line_ctx *c, const uint8_t *p, const uint8_t *end, event_fn *fn)
{
    vp_pb r = {p, end};
    if (*p == XLINE_EVENTS_TAG) {
        uint64_t n;
        r.p++;
        if (!vp_pb_varint(&r, &n) || n > (uint64_t)(end - r.p))
            return 0;
        c->events++;
        if (fn) {
            int rc = fn(c, r.p, r.p + n);
            if (rc < 0)
                return rc;
        }
        return r.p + n - p;
    }
    vp_pb_field f;
    if (vp_pb_next(&r, &f) <= 0)
        return 0;
    if (!fn)
        line_field(c, &f);
    return r.p - p;
}

/* Walks over a line through the window. fn NULL: only takes its header and counts events. */
static int walk(xs_line_ctx *c, const xs_line *line, event_fn *fn)
{
    xs_window *w = &c->r->w;
    int64_t at = line->offset;
    size_t want = 1;
    c->events = 0;
    while (at < line->end) {
        const uint8_t *p, *cur;
        size_t have;
        int rc = xw_need(w, at, want, &p, &have);
        if (rc == VP_ECORRUPT)
            return damaged(c->r, at);
        VP_TRY(rc);
        if ((int64_t)have > line->end - at)
            have = (size_t)(line->end - at);
        for (cur = p; cur < p + have;) {
            int64_t n = one_field(c, cur, p + have, fn);
            if (n < 0)
                return (int)n;
            if (n == 0)
                break;
            cur += n;
        }
        if (cur == p && (int64_t)have >= line->end - at)
            return damaged(c->r, at);
        want = cur == p ? have * 2 : 1;
        if ((int64_t)want > line->end - at - (cur - p))
            want = (size_t)(line->end - at - (cur - p));
        at += cur - p;
        if (want > VP_XPLANE_META_MAX)
            return damaged(c->r, at);
        want = want ? want : 1;
    }
    return 0;
}

/* What an event says, without its names. */
typedef struct raw_event {
    int64_t metadata_id, offset, duration;
    int64_t device_offset, device_duration;
    uint64_t key; /* a hash of the stats that make a kind; 0: there are none */
    uint64_t producer_type, consumer_type;
    int64_t ordinal;
    uint32_t seen; /* a bit for each xs_stat_role; members below are only set if their bit is */
    bool aggregated, says; /* says: has stats */
    uint64_t producer, consumer, lost;
    vp_str allocator;       /* its name; empty if it is a reference: */
    uint64_t allocator_ref; /* the stat whose name it is */
    sink_extra x;
} raw_event;

#define SEEN(e, role) ((e)->seen >> (role)&1u)
#define OWN_CLOCK (1u << XS_STAT_DEVICE_OFFSET | 1u << XS_STAT_DEVICE_DURATION)

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
    /* Leaves out the weaker of two stats for one attribute, and a correlation of 0, which is none.
     */
    if ((role == XS_STAT_ITER_NUM || role == XS_STAT_RUN) && rd_has_attr(&e->x, a))
        return;
    if ((int64_t)u == SINK_NO_VALUE || text.n || (role == XS_STAT_CORRELATION && !u))
        return;
    sink_extra_set(&e->x, a, (int64_t)u);
}

static void use_stat(raw_event *e, xs_stat_role role, uint64_t u, vp_str text)
{
    if (role >= XS_STAT_ATTRS) {
        use_attr(e, role, u, text);
        return;
    }
    e->seen |= 1u << role;
    switch (role) {
    case XS_STAT_DEVICE_OFFSET:
        e->device_offset = (int64_t)u;
        break;
    case XS_STAT_DEVICE_DURATION:
        e->device_duration = (int64_t)u;
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
    case XS_STAT_HLO_PROTO:
    case XS_STAT_PROFILE_START:
    case XS_STAT_PROFILE_STOP:
    case XS_STAT_WINDOW_START:
    case XS_STAT_DROPPED:
    case XS_STAT_GPU_MODEL:
    case XS_STAT_TPU_MODEL:
    case XS_STAT_CORE_DETAILS:
    case XS_STAT_CATEGORY:
    case XS_STAT_OTHER:
        break;
    default:
        e->key += vp_mix((text.n ? vp_hash(text.p, text.n, 7) : u) * 64 + (uint64_t)role);
    }
}

/* Reads an XStat: a metadata id and a value. Its usual form, in that order and with a number, is
 * taken straight. */
static inline void read_stat(const xs_plane *pl, raw_event *e, const uint8_t *p, const uint8_t *end)
{
    vp_pb r = {p, end};
    vp_pb_field f;
    uint64_t id = 0, u = 0;
    vp_str text = VP_STR_NONE;
    if (end - p > 2 && *p == XSTAT_METADATA_ID_TAG) {
        r.p++;
        if (!vp_pb_varint(&r, &id))
            return;
        xs_stat_role role = xs_plane_role(pl, (int64_t)id);
        if (role == XS_STAT_OTHER)
            return;
        vp_pb value = {r.p + 1, end};
        if (r.p < end && (*r.p & 7) == VP_PB_VARINT && vp_pb_varint(&value, &u) && value.p == end) {
            use_stat(e, role, u, text);
            return;
        }
    }
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

/* false: the event is damaged. */
static bool read_event(const xs_plane *pl, raw_event *e, const uint8_t *p, const uint8_t *end)
{
    vp_pb r = {p, end};
    vp_pb_field f;
    /* Field by field: clearing the whole struct cost an eighth of the reader's time. */
    e->metadata_id = e->offset = e->duration = 0;
    e->device_offset = e->device_duration = e->ordinal = 0;
    e->key = e->producer_type = e->consumer_type = 0;
    e->seen = e->x.has = 0;
    e->allocator = VP_STR_NONE;
    e->allocator_ref = UINT64_MAX;
    e->aggregated = e->says = false;
    while (r.p < end) {
        uint64_t v;
        uint8_t tag = *r.p;
        if (tag == XEVENT_METADATA_ID_TAG || tag == XEVENT_OFFSET_PS_TAG ||
            tag == XEVENT_DURATION_PS_TAG || tag == XEVENT_STATS_TAG) {
            r.p++;
            if (!vp_pb_varint(&r, &v))
                return false;
            if (tag == XEVENT_STATS_TAG) {
                if (v > (uint64_t)(end - r.p))
                    return false;
                e->says = true;
                read_stat(pl, e, r.p, r.p + v);
                r.p += v;
            } else if (tag == XEVENT_METADATA_ID_TAG) {
                e->metadata_id = (int64_t)v;
            } else if (tag == XEVENT_OFFSET_PS_TAG) {
                e->offset = (int64_t)v;
            } else {
                e->duration = (int64_t)v;
            }
            continue;
        }
        if (vp_pb_next(&r, &f) <= 0)
            return false;
        e->aggregated =
            e->aggregated || (f.number == XEVENT_NUM_OCCURRENCES && f.wire == VP_PB_VARINT && f.u);
    }
    return true;
}

static bool in_range(int64_t start, int64_t dur)
{
    return start >= -VP_TIME_MAX_PS && start <= VP_TIME_MAX_PS && dur <= VP_TIME_MAX_PS &&
           start + dur <= VP_TIME_MAX_PS;
}

/* Reads an event and checks its times; false: counted as unusable. */
static bool usable(xs_line_ctx *c, raw_event *e, const uint8_t *p, const uint8_t *end)
{
    xs_reader *r = c->r;
    int64_t start;
    if (!read_event(c->plane, e, p, end)) {
        r->bad_time++;
        return false;
    }
    if (e->aggregated) {
        r->aggregated++;
        return false;
    }
    if (e->duration < 0 || e->device_duration < 0) {
        r->negative++;
        e->duration = e->duration < 0 ? 0 : e->duration;
        e->device_duration = e->device_duration < 0 ? 0 : e->device_duration;
    }
    if (__builtin_add_overflow(c->base_ps, e->offset, &start) || !in_range(start, e->duration) ||
        !in_range(e->device_offset, e->device_duration)) {
        r->bad_time++;
        return false;
    }
    e->offset = start;
    r->first_ps = start < r->first_ps ? start : r->first_ps;
    r->last_ps = start + e->duration > r->last_ps ? start + e->duration : r->last_ps;
    return true;
}

/* Events whose metadata id is unknown are kept under the empty name. */
static int unknown_kind(xs_line_ctx *c, uint32_t *kind)
{
    uint64_t key = vp_mix(UINT64_MAX - c->plane_index);
    *kind = vp_map_get(&c->r->kinds, key);
    if (*kind != VP_MAP_NONE)
        return 0;
    sink_kind k = {.program_id = SINK_UNKNOWN,
                   .group_size = SINK_UNKNOWN,
                   .bytes = SINK_UNKNOWN,
                   .flops = SINK_UNKNOWN,
                   .is_op = c->role == SINK_ROLE_OPS};
    VP_TRY(c->r->out->kind(c->r->out, &k, kind));
    return vp_map_set(&c->r->kinds, key, *kind);
}

static uint64_t producer_key(const raw_event *e)
{
    return (uint64_t)rd_flow_key(e->producer_type, e->producer);
}

static uint64_t consumer_key(const raw_event *e)
{
    return (uint64_t)rd_flow_key(e->consumer_type, e->consumer);
}

/* The event's attributes; NULL: it has none, or nobody wants them. */
static const sink_extra *close_attrs(const xs_line_ctx *c, raw_event *e)
{
    if (!c->r->want_host)
        return NULL;
    if (SEEN(e, XS_STAT_PRODUCER))
        sink_extra_set(&e->x, SINK_FLOW_OUT, (int64_t)producer_key(e));
    if (SEEN(e, XS_STAT_CONSUMER))
        sink_extra_set(&e->x, SINK_FLOW_IN, (int64_t)consumer_key(e));
    return e->x.has ? &e->x : NULL;
}

static int device_event(xs_line_ctx *c, const uint8_t *p, const uint8_t *end)
{
    raw_event e;
    uint32_t kind;
    if (!usable(c, &e, p, end)) {
        c->r->out->skipped(c->r->out, 1);
        return 0;
    }
    xs_meta *meta = xs_plane_meta(c->plane, e.metadata_id);
    uint64_t key = e.key + c->label_hash;
    vp_str event = {(const char *)p, (size_t)(end - p)};
    VP_TRY(!meta ? unknown_kind(c, &kind)
           : key ? xs_kind_of_event(c, meta, key, event, false, &kind)
                 : xs_kind_of_meta(c, meta, &kind));
    bool own_clock = (e.seen & OWN_CLOCK) == OWN_CLOCK;
    sink_event out = {.start_ps = own_clock ? e.device_offset : e.offset,
                      .dur_ps = own_clock ? e.device_duration : e.duration,
                      .aligned_start_ps = own_clock ? e.offset : SINK_NO_TIME,
                      .aligned_dur_ps = e.duration,
                      .track = c->track,
                      .kind = kind,
                      .extra = close_attrs(c, &e)};
    return xs_emit(c->r, &out);
}

static bool is_end_event(const xs_plane *pl, xs_meta *meta)
{
    if (!meta->named) {
        vp_str name, display;
        xs_meta_decode(pl, meta->bytes, &name, &display, NULL);
        meta->is_end = vp_str_starts(name, VP_STR("end: "));
        meta->named = true;
    }
    return meta->is_end;
}

/* Opens a line's track. Lines with the same plane, id and name are one track, since planes may
 * stand twice in a file. */
static int open_track(xs_line_ctx *c, vp_str name, int64_t id, sink_role role, uint32_t *track)
{
    xs_reader *r = c->r;
    uint64_t key = vp_hash(name.p, name.n, vp_mix((uint64_t)id) + c->process);
    *track = vp_map_get(&r->tracks, key);
    if (*track != VP_MAP_NONE)
        return 0;
    sink_track t = {.process = c->process, .name = name, .id = id, .role = role};
    VP_TRY(r->out->track(r->out, &t, track));
    return vp_map_set(&r->tracks, key, *track);
}

/* Allocator events have a track of their own, named by the allocator: their many attributes would
 * be columns of a whole thread. */
static int use_allocator(xs_line_ctx *c, raw_event *e, xs_meta *meta, uint32_t *track)
{
    vp_str name = e->allocator, event = VP_STR_NONE, display;
    uint32_t i = vp_map_get(&c->plane->stat_by_id, e->allocator_ref);
    if (!name.n && i != VP_MAP_NONE)
        name = c->plane->stat_names[i];
    if (meta)
        xs_meta_decode(c->plane, meta->bytes, &event, &display, NULL);
    rd_allocator_attrs(&e->x, event, name);
    return open_track(c, name.n ? name : VP_STR("memory"), -1, c->role, track);
}

/* A mark where zones are missing. It is no work of the thread, so it gets a track beside it, and an
 * entry in quality. */
static int use_lost(xs_line_ctx *c, const raw_event *e, uint32_t *track)
{
    char text[400];
    int64_t us = e->offset / 1000000;
    vp_str thread = vp_str_head((vp_str){c->name, c->name_n}, 200);
    int n = snprintf(text, sizeof text,
                     "%llu zone%s of the thread %.*s %s dropped, from %lld.%03lld ms on: the "
                     "recording's pool was full",
                     (unsigned long long)e->lost, e->lost == 1 ? "" : "s", VP_STR_ARG(thread),
                     e->lost == 1 ? "was" : "were", (long long)(us / 1000),
                     (long long)(us < 0 ? -us : us) % 1000);
    const sink_quality q = {"lost-zones", SINK_WARNING, {text, (size_t)n}, -1, -1, true};
    if (c->r->lost_said < LOST_SAID_MAX)
        VP_TRY(c->r->out->quality(c->r->out, &q));
    c->r->lost_said++;
    n = snprintf(text, sizeof text, "lost zones of %.*s", VP_STR_ARG(thread));
    return open_track(c, (vp_str){text, (size_t)n}, c->id, SINK_ROLE_DERIVED, track);
}

/* A host event. It is shown on its thread, and may also be an op of XLA:CPU, or the end of one. */
static int host_event(xs_line_ctx *c, const uint8_t *p, const uint8_t *end)
{
    xs_reader *r = c->r;
    raw_event e;
    uint32_t kind;
    if (!usable(c, &e, p, end)) {
        r->out->skipped(r->out, 1);
        return 0;
    }
    xs_meta *meta = xs_plane_meta(c->plane, e.metadata_id);
    vp_str event = {(const char *)p, (size_t)(end - p)};
    if (meta && !r->device_ops && SEEN(&e, XS_STAT_HLO_OP)) {
        VP_TRY(xs_kind_of_event(c, meta, e.key, event, true, &kind));
        xs_cpu_op op = {e.offset, e.offset + e.duration, 0, SINK_NO_VALUE, kind, 0};
        if (SEEN(&e, XS_STAT_PRODUCER))
            op.key = producer_key(&e);
        if (rd_has_attr(&e.x, SINK_RUN))
            op.run = e.x.v[SINK_RUN];
        VP_TRY(xs_cpu_add(c, op, e.ordinal));
    } else if (meta && !r->device_ops && SEEN(&e, XS_STAT_CONSUMER) &&
               is_end_event(c->plane, meta)) {
        VP_TRY(xs_cpu_add_end(r, consumer_key(&e), e.offset + e.duration));
    }
    if (!r->want_host) {
        r->out->skipped(r->out, 1);
        return 0;
    }
    VP_TRY(!meta                          ? unknown_kind(c, &kind)
           : SEEN(&e, XS_STAT_UNFINISHED) ? xs_kind_of_event(c, meta, e.key, event, false, &kind)
                                          : xs_kind_of_meta(c, meta, &kind));
    sink_event out = {e.offset, e.duration, SINK_NO_TIME, 0, c->track, kind, close_attrs(c, &e)};
    if (r->is_ours && e.says)
        VP_TRY(xs_args(c, kind, event, e.offset));
    if (SEEN(&e, XS_STAT_LOST))
        VP_TRY(use_lost(c, &e, &out.track));
    else if (out.extra && !e.duration && rd_has_attr(&e.x, SINK_MEM_USED))
        VP_TRY(use_allocator(c, &e, meta, &out.track));
    return xs_emit(r, &out);
}

static int read_line(xs_reader *r, uint32_t plane_index, const xs_line *line, bool device,
                     uint32_t process)
{
    xs_line_ctx c = {
        .r = r, .process = process, .plane = &r->planes[plane_index], .plane_index = plane_index};
    VP_TRY(walk(&c, line, NULL));
    vp_str name = {c.name, c.name_n};
    c.role = device                                  ? rd_role_of_id(c.plane->name, name, c.id)
             : vp_str_eq(name, VP_STR("_counters_")) ? SINK_ROLE_COUNTER
                                                     : SINK_ROLE_PLAIN;
    int64_t ns;
    if (__builtin_sub_overflow(c.timestamp_ns, r->base_ns, &ns) ||
        __builtin_mul_overflow(ns, INT64_C(1000), &c.base_ps)) {
        r->bad_time += c.events;
        r->out->skipped(r->out, c.events);
        return 0;
    }
    bool ops = c.role == SINK_ROLE_OPS;
    bool wanted = ops || (r->want_host && c.role != SINK_ROLE_DERIVED) ||
                  (device && c.role == SINK_ROLE_MODULES);
    if (device ? !wanted : !wanted && r->device_ops) {
        r->out->skipped(r->out, c.events);
        return 0;
    }
    if (ops) {
        c.stream_label = rd_stream_label(name);
        c.label_hash = c.stream_label.n ? vp_hash(c.stream_label.p, c.stream_label.n, 3) : 0;
        r->device_ops += c.events;
    }
    VP_TRY(open_track(&c, name, c.id, c.role, &c.track));
    return walk(&c, line, device ? device_event : host_event);
}

/* Fields of CoreDetails (xprof's op_stats.proto). It leaves fields out that are 0. */
enum { COREDETAILS_GLOBAL_CHIP_ID = 5, COREDETAILS_GLOBAL_CORE_ID = 6 };

/* Which device of the mesh a plane is. Programs number devices as cores are numbered, if a chip has
 * one core; if it has two, it is not known which of them a device is. */
static void read_core(sink_process *p, const xs_value *details)
{
    uint64_t chip = 0, core = 0;
    vp_pb r = vp_pb_of(details->text);
    vp_pb_field f;
    while (vp_pb_next(&r, &f) > 0) {
        if (f.number == COREDETAILS_GLOBAL_CHIP_ID && f.wire == VP_PB_VARINT)
            chip = f.u;
        else if (f.number == COREDETAILS_GLOBAL_CORE_ID && f.wire == VP_PB_VARINT)
            core = f.u;
    }
    p->has_device_id =
        details->wire && p->kind == SINK_PROCESS_TPU && chip == core && core <= INT32_MAX;
    p->device_id = p->has_device_id ? (int64_t)core : SINK_UNKNOWN;
}

static int open_process(xs_reader *r, const xs_plane *pl, uint32_t *process)
{
    uint64_t key = vp_hash(pl->name.p, pl->name.n, 11);
    *process = vp_map_get(&r->processes, key);
    if (*process != VP_MAP_NONE)
        return 0;
    vp_str gpu = pl->stats[XS_STAT_GPU_MODEL].text, tpu = pl->stats[XS_STAT_TPU_MODEL].text;
    sink_process p = {.name = pl->name, .model = gpu.n ? gpu : tpu, .id = pl->id};
    p.kind = rd_process_kind(pl->name, &p.ordinal);
    read_core(&p, &pl->stats[XS_STAT_CORE_DETAILS]);
    VP_TRY(r->out->process(r->out, &p, process));
    return vp_map_set(&r->processes, key, *process);
}

int xs_lines_read(xs_reader *r, uint32_t plane_index, bool device)
{
    uint32_t process;
    VP_TRY(open_process(r, &r->planes[plane_index], &process));
    for (size_t i = 0; i < r->planes[plane_index].line_count; i++) {
        const xs_line *line = &r->planes[plane_index].lines[i];
        if (r->opts && r->opts->progress &&
            r->opts->progress(r->opts->progress_ctx, line->offset, r->w.size))
            return vp_fail(VP_ECANCELLED, "stopped");
        VP_TRY(read_line(r, plane_index, line, device, process));
    }
    return xs_flush(r);
}
