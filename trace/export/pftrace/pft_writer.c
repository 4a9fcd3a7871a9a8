#include "trace/export/pftrace/pft_writer.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/pb.h"
#include "trace/export/pftrace/pft_fields.h"

void pft_init(pft_writer *w, vp_buf *out, const ex_pick *pick)
{
    *w = (pft_writer){.out = out, .host = pick ? pick->host : NULL};
    vp_buf_init(&w->event, 4 * (size_t)VP_JSON_EVENT_MAX);
    vp_buf_init(&w->interned, 4 * (size_t)VP_JSON_EVENT_MAX);
}

void pft_free(pft_writer *w)
{
    vp_buf_free(&w->event);
    vp_buf_free(&w->interned);
}

/* Maximum bytes of a varint and its tag. */
#define FIELD_MAX 16

static inline char *write_varint(char *p, uint64_t v)
{
    for (; v > 127; v >>= 7)
        *p++ = (char)(v | 128);
    *p++ = (char)v;
    return p;
}

static inline char *write_varint_field(char *p, uint32_t number, uint64_t v)
{
    return write_varint(write_varint(p, VP_PB_TAG(number, VP_PB_VARINT)), v);
}

static inline char *write_bytes_field(char *p, uint32_t number, const char *data, size_t n)
{
    p = write_varint(write_varint(p, VP_PB_TAG(number, VP_PB_LEN)), n);
    memcpy(p, data, n);
    return p + n;
}

static inline void buf_put_field(vp_buf *b, uint32_t number, uint64_t v)
{
    char *p = vp_buf_reserve(b, FIELD_MAX);
    if (p)
        b->n += (size_t)(write_varint_field(p, number, v) - p);
}

static inline size_t varint_size(uint64_t v)
{
    return (size_t)(63 - __builtin_clzll(v | 1)) / 7 + 1;
}

/* The id of a track or flow among those of all hosts. */
static inline uint64_t merged_track_id(const pft_writer *w, uint64_t id)
{
    return w->host ? pft_host_id(w->host, id) : id;
}

/* A text, unchanged or truncated before its byte `max` at a character boundary; then b holds it. */
static vp_str cut_text_at_char(vp_buf *b, vp_str text, size_t max)
{
    if (text.n <= max)
        return text;
    size_t n = max;
    while (n && n + 4 > max && ((unsigned char)text.p[n] & 0xc0) == 0x80)
        n--;
    vp_buf_put(b, text.p, n);
    vp_buf_printf(b, "\xe2\x80\xa6 (truncated, %zu bytes)", text.n);
    return vp_buf_view(b);
}

/* The packet with the content in `packet`. */
static int put_packet(pft_writer *w, vp_buf *packet)
{
    vp_pb_put_len(w->out, TRACE_PACKET, vp_buf_view(packet));
    if (packet->status < 0)
        vp_buf_fail(w->out, packet->status);
    return w->out->status;
}

static void put_descriptor(vp_buf *b, const pft_track *t)
{
    VP_CLEANUP(vp_buf_free) vp_buf part;
    vp_buf_init(&part, 1u << 20);
    buf_put_field(b, TRACK_UUID, t->uuid);
    if (t->parent)
        buf_put_field(b, TRACK_PARENT, t->parent);
    if (t->name.n && t->kind != PFT_PROCESS)
        vp_pb_put_len(b, TRACK_NAME, t->name);
    if (t->kind == PFT_PROCESS) {
        buf_put_field(&part, PROCESS_PID, t->pid);
        buf_put_field(&part, PROCESS_SORT_INDEX, (uint64_t)(int64_t)t->rank);
        if (t->name.n)
            vp_pb_put_len(&part, PROCESS_NAME, t->name);
        if (t->label.n)
            vp_pb_put_len(&part, PROCESS_LABEL, t->label);
        vp_pb_put_len(b, TRACK_PROCESS, vp_buf_view(&part));
    } else if (t->kind == PFT_THREAD) {
        buf_put_field(&part, THREAD_PID, t->pid);
        buf_put_field(&part, THREAD_TID, t->tid);
        buf_put_field(&part, THREAD_SORT_INDEX, (uint64_t)(int64_t)t->rank);
        if (t->name.n)
            vp_pb_put_len(&part, THREAD_NAME, t->name);
        vp_pb_put_len(b, TRACK_THREAD, vp_buf_view(&part));
    } else if (t->kind == PFT_COUNTER) {
        if (t->bytes)
            buf_put_field(&part, COUNTER_UNIT, UNIT_SIZE_BYTES);
        vp_pb_put_len(b, TRACK_COUNTER, vp_buf_view(&part));
    }
    buf_put_field(b, TRACK_RANK, (uint64_t)(int64_t)t->rank);
    if (t->description.n)
        vp_pb_put_len(b, TRACK_DESCRIPTION, t->description);
    if (t->ordered)
        buf_put_field(b, TRACK_CHILD_ORDERING, ORDERING_EXPLICIT);
    if (t->apart)
        buf_put_field(b, TRACK_MERGE, MERGE_NONE);
    if (part.status < 0)
        vp_buf_fail(b, part.status);
}

/* The track as one of several hosts. `name` then holds its name. */
static int among_hosts(const pft_writer *w, pft_track *t, vp_buf *name)
{
    bool process = t->kind == PFT_PROCESS;
    bool group = process || (t->kind == PFT_PLAIN && !t->parent);
    t->uuid = merged_track_id(w, t->uuid);
    t->parent = merged_track_id(w, t->parent);
    if (process || t->kind == PFT_THREAD)
        VP_TRY(pft_host_pid(w->host, t->pid, &t->pid));
    if (t->kind == PFT_THREAD)
        t->tid = pft_host_tid(w->host, t->pid, t->tid);
    if (!group)
        return 0;
    t->rank = pft_host_rank(w->host, t->rank);
    vp_buf_str(name, t->name);
    vp_buf_puts(name, t->name.n ? " (" : "(");
    vp_buf_str(name, w->host->name);
    vp_buf_putc(name, ')');
    t->name = vp_buf_view(name);
    return name->status;
}

int pft_put_track(pft_writer *w, const pft_track *track)
{
    VP_CLEANUP(vp_buf_free) vp_buf packet, descriptor, name, text, label, description;
    pft_track t = *track;
    vp_buf_init(&packet, 1u << 20);
    vp_buf_init(&descriptor, 1u << 20);
    vp_buf_init(&name, 1u << 20);
    vp_buf_init(&text, 1u << 20);
    vp_buf_init(&label, 1u << 20);
    vp_buf_init(&description, 1u << 20);
    t.name = cut_text_at_char(&text, t.name, VP_TRACK_NAME_MAX);
    t.label = cut_text_at_char(&label, t.label, VP_TRACK_NAME_MAX);
    t.description = cut_text_at_char(&description, t.description, VP_TRACK_NAME_MAX);
    if (w->host)
        VP_TRY(among_hosts(w, &t, &name));
    put_descriptor(&descriptor, &t);
    vp_pb_put_len(&packet, PACKET_TRACK_DESCRIPTOR, vp_buf_view(&descriptor));
    if (descriptor.status < 0)
        vp_buf_fail(&packet, descriptor.status);
    return put_packet(w, &packet);
}

/* The sequence's clock is incremental; it is tied to the trace's clock at its start. */
static void put_sequence_clock(vp_buf *snapshot, uint64_t id, int64_t at_ns, bool incremental)
{
    VP_CLEANUP(vp_buf_free) vp_buf clock;
    vp_buf_init(&clock, 64);
    buf_put_field(&clock, CLOCK_ID, id);
    buf_put_field(&clock, CLOCK_TIMESTAMP, (uint64_t)at_ns);
    if (incremental)
        buf_put_field(&clock, CLOCK_IS_INCREMENTAL, 1);
    vp_pb_put_len(snapshot, SNAPSHOT_CLOCK, vp_buf_view(&clock));
}

int pft_begin_trace(pft_writer *w)
{
    VP_CLEANUP(vp_buf_free) vp_buf packet, snapshot;
    vp_buf_init(&packet, 64);
    vp_buf_init(&snapshot, 64);
    if (w->host && w->host->number > 1)
        return 0;
    put_sequence_clock(&snapshot, CLOCK_BOOTTIME, 0, false);
    buf_put_field(&snapshot, SNAPSHOT_TRACE_CLOCK, CLOCK_BOOTTIME);
    vp_pb_put_len(&packet, PACKET_CLOCK_SNAPSHOT, vp_buf_view(&snapshot));
    return put_packet(w, &packet);
}

/* The sequence's clock begins at the trace's clock, or with a table at 0. */
/* Once per sequence: small rather than fast. */
__attribute__((cold)) static int put_sequence(pft_writer *w, int64_t start_ns, vp_str defaults)
{
    VP_CLEANUP(vp_buf_free) vp_buf packet, part;
    vp_buf_init(&packet, 256);
    vp_buf_init(&part, 128);
    w->sequence = w->host ? ++w->host->whole->sequences : w->sequence + 1;
    w->clock_ns = start_ns;
    w->place_n =
        (size_t)(write_varint_field(write_varint_field(w->place, PACKET_SEQUENCE_ID, w->sequence),
                                    PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE) -
                 w->place);
    if (w->host)
        start_ns = pft_host_time(w->host, start_ns);
    buf_put_field(&packet, PACKET_SEQUENCE_ID, w->sequence);
    buf_put_field(&packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
    buf_put_field(&part, DEFAULTS_CLOCK, CLOCK_OF_SEQUENCE);
    if (defaults.n)
        vp_pb_put_len(&part, DEFAULTS_EVENT, defaults);
    vp_pb_put_len(&packet, PACKET_DEFAULTS, vp_buf_view(&part));
    part.n = 0;
    put_sequence_clock(&part, CLOCK_OF_SEQUENCE, w->table ? 0 : start_ns, !w->table);
    put_sequence_clock(&part, CLOCK_BOOTTIME, start_ns, false);
    vp_pb_put_len(&packet, PACKET_CLOCK_SNAPSHOT, vp_buf_view(&part));
    return put_packet(w, &packet);
}

int pft_begin_sequence(pft_writer *w, uint64_t track, int64_t start_ns)
{
    VP_CLEANUP(vp_buf_free) vp_buf defaults;
    vp_buf_init(&defaults, 64);
    w->track = track;
    w->table = false;
    buf_put_field(&defaults, EVENT_TRACK, merged_track_id(w, track));
    return put_sequence(w, start_ns, vp_buf_view(&defaults));
}

int pft_begin_table(pft_writer *w, int64_t start_ns)
{
    w->track = 0;
    w->table = true;
    return put_sequence(w, start_ns, VP_STR_NONE);
}

int pft_put_names(pft_writer *w)
{
    VP_CLEANUP(vp_buf_free) vp_buf packet;
    vp_buf_init(&packet, 8 * (size_t)VP_JSON_EVENT_MAX);
    buf_put_field(&packet, PACKET_SEQUENCE_ID, w->sequence);
    buf_put_field(&packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
    vp_pb_put_len(&packet, PACKET_INTERNED_DATA, vp_buf_view(&w->interned));
    if (w->interned.status < 0)
        vp_buf_fail(&packet, w->interned.status);
    w->interned.n = 0;
    return put_packet(w, &packet);
}

static inline void begin_track_event(pft_writer *w, uint32_t type, uint64_t track)
{
    w->event.n = w->interned.n = 0;
    buf_put_field(&w->event, EVENT_TYPE, type);
    if (track != w->track)
        buf_put_field(&w->event, EVENT_TRACK, merged_track_id(w, track));
}

void pft_slice_begin(pft_writer *w, uint64_t track)
{
    begin_track_event(w, TYPE_SLICE_BEGIN, track);
}

void pft_instant(pft_writer *w, uint64_t track)
{
    begin_track_event(w, TYPE_INSTANT, track);
}

void pft_slice_close(pft_writer *w, uint64_t track)
{
    begin_track_event(w, TYPE_SLICE_END, track);
}

void pft_point(pft_writer *w, uint64_t track)
{
    w->event.n = w->interned.n = 0;
    buf_put_field(&w->event, EVENT_TRACK, merged_track_id(w, track));
}

void pft_event_name(pft_writer *w, uint64_t name)
{
    buf_put_field(&w->event, EVENT_NAME_IID, name);
}

void pft_event_text(pft_writer *w, vp_str name)
{
    vp_pb_put_len(&w->event, EVENT_NAME, name);
}

void pft_category(pft_writer *w, uint64_t category)
{
    buf_put_field(&w->event, EVENT_CATEGORY_IID, category);
}

void pft_category_text(pft_writer *w, vp_str category)
{
    vp_pb_put_len(&w->event, EVENT_CATEGORY, category);
}

void pft_counter(pft_writer *w, uint64_t track, int64_t value)
{
    begin_track_event(w, TYPE_COUNTER, track);
    buf_put_field(&w->event, EVENT_COUNTER_VALUE, (uint64_t)value);
}

void pft_counter_double(pft_writer *w, uint64_t track, uint64_t bits)
{
    begin_track_event(w, TYPE_COUNTER, track);
    vp_pb_put_fixed64(&w->event, EVENT_COUNTER_DOUBLE, bits);
}

static uint64_t passed_until(pft_writer *w, int64_t at_ns)
{
    uint64_t passed = (uint64_t)(at_ns - w->clock_ns);
    w->clock_ns = w->table ? w->clock_ns : at_ns;
    return passed;
}

/* The time and sequence of a packet. */
static inline char *packet_place(const pft_writer *w, char *p, uint64_t passed)
{
    p = write_varint_field(p, PACKET_TIMESTAMP, passed);
    memcpy(p, w->place, sizeof w->place);
    return p + w->place_n;
}

/* The fields before the event of a packet; n bytes follow. */
static char *packet_head(pft_writer *w, char *p, int64_t at_ns, size_t n)
{
    uint64_t passed = passed_until(w, at_ns);
    n += 1 + varint_size(passed) + w->place_n;
    p = write_varint(write_varint(p, VP_PB_TAG(TRACE_PACKET, VP_PB_LEN)), n);
    return packet_place(w, p, passed);
}

/* Ends are half of all events and have no content, so their lengths fit in one byte. */
int pft_slice_end(pft_writer *w, uint64_t track, int64_t at_ns)
{
    char *packet = vp_buf_reserve(w->out, 6 * FIELD_MAX);
    if (!packet)
        return w->out->status;
    char *p = packet_place(w, packet + 2, passed_until(w, at_ns)), *event = p;
    p = write_varint_field(p + 2, EVENT_TYPE, TYPE_SLICE_END);
    if (track != w->track)
        p = write_varint_field(p, EVENT_TRACK, merged_track_id(w, track));
    packet[0] = (char)VP_PB_TAG(TRACE_PACKET, VP_PB_LEN);
    packet[1] = (char)(p - packet - 2);
    event[0] = (char)VP_PB_TAG(PACKET_TRACK_EVENT, VP_PB_LEN);
    event[1] = (char)(p - event - 2);
    w->out->n += (size_t)(p - packet);
    return 0;
}

int pft_put_event(pft_writer *w, int64_t at_ns)
{
    size_t event = w->event.n, interned = w->interned.n;
    size_t n = 1 + varint_size(event) + event;
    if (interned)
        n += 1 + varint_size(interned) + interned;
    if (w->event.status < 0 || w->interned.status < 0)
        return vp_buf_fail(w->out, w->event.status < 0 ? w->event.status : w->interned.status);
    char *p = vp_buf_reserve(w->out, 6 * FIELD_MAX + n), *start = p;
    if (!p)
        return w->out->status;
    p = packet_head(w, p, at_ns, n);
    if (interned)
        p = write_bytes_field(p, PACKET_INTERNED_DATA, w->interned.p, interned);
    p = write_bytes_field(p, PACKET_TRACK_EVENT, w->event.p, event);
    w->out->n += (size_t)(p - start);
    return 0;
}

/* The fields before an argument with n bytes of content after its name's id; space for these is
 * reserved, too. NULL: none. */
static char *begin_arg(pft_writer *w, uint64_t name, size_t n)
{
    char *p = vp_buf_reserve(&w->event, 3 * FIELD_MAX + n);
    if (!p)
        return NULL;
    p = write_varint(write_varint(p, VP_PB_TAG(EVENT_ANNOTATION, VP_PB_LEN)),
                     1 + varint_size(name) + n);
    return write_varint_field(p, ANNOTATION_NAME_IID, name);
}

static void end_arg(pft_writer *w, const char *end)
{
    w->event.n = (size_t)(end - w->event.p);
}

/* Two numbers, whose length fits in one byte. */
static inline void number_arg(pft_writer *w, uint64_t name, uint32_t number, uint64_t v)
{
    char *arg = vp_buf_reserve(&w->event, 3 * FIELD_MAX);
    if (!arg)
        return;
    char *p = write_varint_field(write_varint_field(arg + 2, ANNOTATION_NAME_IID, name), number, v);
    arg[0] = (char)VP_PB_TAG(EVENT_ANNOTATION, VP_PB_LEN);
    arg[1] = (char)(p - arg - 2);
    end_arg(w, p);
}

void pft_arg_int(pft_writer *w, uint64_t name, int64_t v)
{
    number_arg(w, name, ANNOTATION_INT, (uint64_t)v);
}

void pft_arg_uint(pft_writer *w, uint64_t name, uint64_t v)
{
    number_arg(w, name, ANNOTATION_UINT, v);
}

void pft_arg_double(pft_writer *w, uint64_t name, uint64_t bits)
{
    char *p = begin_arg(w, name, 9);
    if (!p)
        return;
    *p++ = (char)VP_PB_TAG(ANNOTATION_DOUBLE, VP_PB_FIXED64);
    for (int i = 0; i < 8; i++, bits >>= 8)
        *p++ = (char)bits;
    end_arg(w, p);
}

static void text_arg(pft_writer *w, uint64_t name, uint32_t number, vp_str text)
{
    char *p = begin_arg(w, name, 1 + varint_size(text.n) + text.n);
    if (p)
        end_arg(w, write_bytes_field(p, number, text.n ? text.p : "", text.n));
}

void pft_arg_text(pft_writer *w, uint64_t name, vp_str text)
{
    text_arg(w, name, ANNOTATION_STRING, text);
}

void pft_arg_json(pft_writer *w, uint64_t name, vp_str json)
{
    text_arg(w, name, ANNOTATION_JSON, json);
}

void pft_arg_bool(pft_writer *w, uint64_t name, bool v)
{
    number_arg(w, name, ANNOTATION_BOOL, v);
}

void pft_arg_known(pft_writer *w, uint64_t name, uint64_t text)
{
    number_arg(w, name, ANNOTATION_STRING_IID, text);
}

void pft_flow(pft_writer *w, uint64_t flow)
{
    vp_pb_put_fixed64(&w->event, EVENT_FLOW, merged_track_id(w, flow));
}

void pft_flow_bound(pft_writer *w, uint64_t flow, pft_way way)
{
    char legacy[2 * FIELD_MAX],
        *end = write_varint_field(legacy, LEGACY_BIND, merged_track_id(w, flow));
    end = write_varint_field(end, LEGACY_WAY, way);
    vp_pb_put_len(&w->event, EVENT_LEGACY, (vp_str){legacy, (size_t)(end - legacy)});
}

void pft_flow_point(pft_writer *w, char phase, uint64_t flow, bool enclosing)
{
    char legacy[3 * FIELD_MAX],
        *end = write_varint_field(legacy, LEGACY_PHASE, (unsigned char)phase);
    end = write_varint_field(end, LEGACY_ID, merged_track_id(w, flow));
    if (enclosing)
        end = write_varint_field(end, LEGACY_ENCLOSING, 1);
    vp_pb_put_len(&w->event, EVENT_LEGACY, (vp_str){legacy, (size_t)(end - legacy)});
}

void pft_tell(pft_writer *w, pft_name_kind kind, uint64_t number, vp_str text)
{
    VP_CLEANUP(vp_buf_free) vp_buf part;
    size_t room = w->interned.n < VP_TOLD_BYTES_MAX ? VP_TOLD_BYTES_MAX - w->interned.n : 0;
    vp_buf_init(&part, VP_TOLD_NAME_MAX + 64);
    text = cut_text_at_char(&part, text, room < VP_TOLD_NAME_MAX ? room : VP_TOLD_NAME_MAX);
    size_t n = 1 + varint_size(number) + 1 + varint_size(text.n) + text.n;
    vp_pb_put_varint(&w->interned, VP_PB_TAG((uint32_t)kind, VP_PB_LEN));
    vp_pb_put_varint(&w->interned, n);
    buf_put_field(&w->interned, INTERNED_IID, number);
    vp_pb_put_len(&w->interned, INTERNED_TEXT, text);
}
