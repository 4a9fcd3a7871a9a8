#include "trace/vpcap/vpcap_xspace.h"

#include <stdio.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"
#include "trace/base/pb_file.h"
#include "trace/vpcap/xspace_fields.h"

/* Size of an event's fixed part: three tags with numbers of at most ten bytes. */
#define HEAD_MAX 40u

/* Maximum size of a plain zone: tags and lengths, a name of four bytes, two numbers of ten. */
#define PLAIN_MAX 32u
#define PLAIN_BATCH (PF_ROOM / PLAIN_MAX)

/* Stats of every plane, by id; those of args follow. */
static const char *const fixed_stats[] = {
    NULL,       "step_num", "_r",         "step_name",  "_pt",
    "_p",       "_ct",      "_c",         "source",     "category",
    "function", VX_COUNTER, "lost_zones", "unfinished", "correlation_id"};
enum {
    ST_STEP_NUM = 1,
    ST_ROOT,
    ST_STEP_NAME,
    ST_PRODUCER_TYPE,
    ST_PRODUCER,
    ST_CONSUMER_TYPE,
    ST_CONSUMER,
    ST_SOURCE,
    ST_CATEGORY,
    ST_FUNCTION,
    ST_COUNTER,
    ST_LOST,
    ST_UNFINISHED,
    ST_CORRELATION,
    ST_COUNT
};

bool vx_is_own_stat(vp_str name)
{
    for (uint32_t i = 1; i < ST_COUNT; i++)
        if (vp_str_eq(name, vp_str_of(fixed_stats[i])))
            return true;
    return false;
}

enum { USED_BY_HOST = 1, USED_BY_DEVICE = 2, USED_TO_COMPILE = 4 };

typedef struct used_name {
    /* First bytes of a plain event up to its offset; its length is filled in later. */
    uint64_t head;
    uint8_t head_bytes; /* 0: no plain event yet */
    uint8_t used;       /* USED_… */
} used_name;

/* A varint of an offset, made in two parts: consecutive events usually share the upper one. */
typedef struct upper_part {
    uint64_t v;    /* above LOW_BITS; UINT64_MAX: none yet */
    uint64_t bits; /* its bytes within the offset's eight, and the lower continuation bits */
    uint32_t bytes;
} upper_part;
#define LOW_BITS 28u

typedef struct xspace {
    pb_file file;
    uint64_t plane_at, line_at; /* positions of the plane's and the line's message */
    const vl_lines *lines;
    vp_arena arena;
    vp_intern stats; /* its ids are those of stats */
    used_name *names;
    size_t name_cap;
    upper_part upper;
    vp_buf scratch, message, mended;
    vx_counts counts;
} xspace;

/* ---- Text ---- */

/* Makes a text valid UTF-8. Protobuf readers refuse a whole file for one invalid byte, and a
 * program's names may contain any byte or be truncated within a character. Each invalid byte
 * becomes U+FFFD, as in the JSON. *s may point into x->mended afterwards, valid until the next
 * call. */
static int mend_utf8(xspace *x, vp_str *s)
{
    vp_str rest = *s;
    size_t good = vp_utf8_span(rest);
    if (good == rest.n)
        return 0;
    x->mended.n = 0;
    for (; rest.n; good = vp_utf8_span(rest)) {
        vp_buf_put(&x->mended, rest.p, good);
        rest = vp_str_skip(rest, good);
        if (rest.n)
            vp_buf_puts(&x->mended, "\xef\xbf\xbd");
        rest = vp_str_skip(rest, 1);
    }
    *s = vp_buf_view(&x->mended);
    return x->mended.status;
}

/* The same for a text that is appended to b: a failure also becomes b's. */
static int mend_for(vp_buf *b, xspace *x, vp_str *s)
{
    int rc = mend_utf8(x, s);
    if (rc < 0 && b->status >= 0)
        b->status = rc;
    return rc;
}

static int put_mended_name(xspace *x, vp_buf *b, uint32_t field, vp_str name)
{
    VP_TRY(mend_for(b, x, &name));
    return vp_pb_put_len(b, field, name);
}

/* ---- Stats ---- */

static int put_stat(vp_buf *b, uint32_t id, char tag, uint64_t v)
{
    char *p = vp_buf_reserve(b, 28), *q;
    char stat[24];
    if (!p)
        return b->status;
    q = pf_varint(stat + 1, id);
    stat[0] = XSTAT_METADATA_ID_TAG;
    *q++ = tag;
    if (tag == XSTAT_DOUBLE_VALUE_TAG) {
        memcpy(q, &v, sizeof v);
        q += sizeof v;
    } else {
        q = pf_varint(q, v);
    }
    *p++ = XEVENT_STATS_TAG;
    *p++ = (char)(q - stat);
    memcpy(p, stat, (size_t)(q - stat));
    b->n += 2 + (size_t)(q - stat);
    return 0;
}

static int put_text_stat(xspace *x, vp_buf *b, uint32_t field, uint32_t id, vp_str text)
{
    char head[16];
    VP_TRY(mend_for(b, x, &text));
    char *q = pf_varint(head + 1, id);
    head[0] = XSTAT_METADATA_ID_TAG;
    *q++ = XSTAT_STR_VALUE_TAG;
    q = pf_varint(q, text.n);
    VP_TRY(vp_pb_put_varint(b, VP_PB_TAG((uint64_t)field, VP_PB_LEN)));
    VP_TRY(vp_pb_put_varint(b, (uint64_t)(q - head) + text.n));
    VP_TRY(vp_buf_put(b, head, (size_t)(q - head)));
    return vp_buf_str(b, text);
}

static uint64_t double_bits(double f)
{
    uint64_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static int put_arg_stat(xspace *x, vp_buf *b, const vpcap_arg *a)
{
    vp_sid id;
    VP_TRY(vp_intern_put(&x->stats, a->key.n ? a->key : VP_STR("value"), &id));
    if (a->type == VPCAP_STR)
        return put_text_stat(x, b, XEVENT_STATS, id, a->s);
    if (a->type == VPCAP_F64)
        return put_stat(b, id, XSTAT_DOUBLE_VALUE_TAG, double_bits(a->f));
    return put_stat(b, id, XSTAT_INT64_VALUE_TAG, (uint64_t)a->i);
}

static int put_step_stats(xspace *x, vp_buf *b, const vpcap_event *e)
{
    vp_str name = vl_name_at(x->lines, e->name).name;
    VP_TRY(vp_buf_printf(&x->scratch, "%.*s %lld", VP_STR_ARG(name), (long long)e->number));
    VP_TRY(put_stat(b, ST_ROOT, XSTAT_INT64_VALUE_TAG, 1));
    VP_TRY(put_stat(b, ST_STEP_NUM, XSTAT_INT64_VALUE_TAG, (uint64_t)e->number));
    int rc = put_text_stat(x, b, XEVENT_STATS, ST_STEP_NAME, vp_buf_view(&x->scratch));
    x->scratch.n = 0;
    return rc;
}

static int put_flow_stats(vp_buf *b, const vpcap_event *e)
{
    if (e->flow_out) {
        VP_TRY(put_stat(b, ST_PRODUCER_TYPE, XSTAT_INT64_VALUE_TAG, 0));
        VP_TRY(put_stat(b, ST_PRODUCER, XSTAT_UINT64_VALUE_TAG, e->flow_out));
    }
    if (e->flow_in) {
        VP_TRY(put_stat(b, ST_CONSUMER_TYPE, XSTAT_INT64_VALUE_TAG, 0));
        VP_TRY(put_stat(b, ST_CONSUMER, XSTAT_UINT64_VALUE_TAG, e->flow_in));
    }
    return 0;
}

static int put_extras(xspace *x, vp_buf *b, const vpcap_event *e)
{
    if (e->kind == VPCAP_STEP)
        VP_TRY(put_step_stats(x, b, e));
    if (e->kind == VPCAP_COUNTER)
        VP_TRY(e->is_real ? put_stat(b, ST_COUNTER, XSTAT_DOUBLE_VALUE_TAG, double_bits(e->real))
                          : put_stat(b, ST_COUNTER, XSTAT_INT64_VALUE_TAG, (uint64_t)e->number));
    if (e->kind == VPCAP_LOST)
        VP_TRY(put_stat(b, ST_LOST, XSTAT_INT64_VALUE_TAG, (uint64_t)e->number));
    if (e->kind == VPCAP_COMPILE)
        x->names[e->name].used |= USED_TO_COMPILE;
    if (e->correlation)
        VP_TRY(put_stat(b, ST_CORRELATION, XSTAT_UINT64_VALUE_TAG, e->correlation));
    if (e->open) {
        x->counts.open++;
        VP_TRY(put_stat(b, ST_UNFINISHED, XSTAT_INT64_VALUE_TAG, 1));
    }
    VP_TRY(put_flow_stats(b, e));
    for (uint32_t i = 0; i < e->arg_count; i++)
        VP_TRY(put_arg_stat(x, b, &e->args[i]));
    return 0;
}

/* ---- Callbacks of vl_write ---- */

static int use_name(xspace *x, const vl_lines *l, uint32_t name, uint8_t how)
{
    x->lines = l;
    if (name >= x->name_cap) {
        size_t before = x->name_cap;
        VP_TRY(vp_grow(&x->names, &x->name_cap, (size_t)name + 1, sizeof *x->names, VPCAP_NONE));
        memset(x->names + before, 0, (x->name_cap - before) * sizeof *x->names);
    }
    x->names[name].used |= how;
    return 0;
}

static bool is_used(const xspace *x, uint32_t name, uint8_t how)
{
    return name < x->name_cap && x->names[name].used & how;
}

/* Metadata ids are name indices plus 1, because 0 means none. */
static char *put_xevent_head(char *q, uint32_t name, int64_t start, int64_t dur)
{
    *q++ = XEVENT_METADATA_ID_TAG;
    q = pf_varint(q, (uint64_t)name + 1);
    *q++ = XEVENT_OFFSET_PS_TAG;
    q = pf_varint(q, (uint64_t)start);
    if (dur) {
        *q++ = XEVENT_DURATION_PS_TAG;
        q = pf_varint(q, (uint64_t)dur);
    }
    return q;
}

static int encode_event(void *ctx, const vl_lines *l, const vl_line *line, const vpcap_event *e,
                        vp_buf *b)
{
    xspace *x = ctx;
    uint8_t how = line->plane ? USED_BY_DEVICE : USED_BY_HOST;
    if (!is_used(x, e->name, how))
        VP_TRY(use_name(x, l, e->name, how));
    char *p = vp_buf_reserve(b, HEAD_MAX), *q = p;
    if (!p)
        return b->status;
    q = put_xevent_head(q, e->name, e->start_ps, e->dur_ps);
    b->n += (size_t)(q - p);
    return put_extras(x, b, e);
}

/* Writes no group_id: XProf groups only files without any, and shows steps only of files that it
 * groups. */
static int write_encoded_event(void *ctx, const char *p, size_t n, int64_t group)
{
    xspace *x = ctx;
    char *q = pf_room(&x->file);
    (void)group;
    x->counts.events++;
    *q = XLINE_EVENTS_TAG;
    VP_TRY(pf_wrote(&x->file, pf_varint(q + 1, n)));
    return pf_put(&x->file, p, n);
}

/* Prepares the head of plain events with this name: 24 bits, four bytes. */
__attribute__((noinline)) static int use_plain_name(xspace *x, const vl_lines *l, uint32_t i)
{
    char head[16] = {XLINE_EVENTS_TAG, 0, XEVENT_METADATA_ID_TAG};
    VP_TRY(use_name(x, l, i, USED_BY_HOST));
    char *q = pf_varint(head + 3, (uint64_t)i + 1);
    *q++ = XEVENT_OFFSET_PS_TAG;
    x->names[i].head_bytes = (uint8_t)(q - head);
    memcpy(&x->names[i].head, head, sizeof x->names[i].head);
    return 0;
}

/* Splits an offset. false: its upper part is 0 or above 28 bits; pf_varint writes such offsets. */
__attribute__((noinline)) static bool split_upper_offset(upper_part *u, uint64_t upper)
{
    char bytes[16] = {0};
    if (!upper || upper >> LOW_BITS || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
        return false;
    u->v = upper;
    u->bytes = LOW_BITS / 7 + (uint32_t)(pf_varint(bytes, upper) - bytes);
    memcpy(&u->bits, bytes, sizeof u->bits);
    u->bits = u->bits << 32 | UINT64_C(0x80808080);
    return true;
}

static inline char *put_offset(char *p, upper_part *u, uint64_t v)
{
    uint64_t low = v & ((UINT64_C(1) << LOW_BITS) - 1);
    if (v >> LOW_BITS != u->v && !split_upper_offset(u, v >> LOW_BITS))
        return pf_varint(p, v);
    low += (low & 0x0fffc000) * 3;
    low += low & 0x3f803f80;
    low |= u->bits;
    memcpy(p, &low, sizeof low);
    return p + u->bytes;
}

/* A plain event has less than 128 bytes, so its length takes one byte. */
static inline char *put_plain_event(char *p, const used_name *name, const vpcap_plain *z,
                                    upper_part *u)
{
    char *q = p + name->head_bytes;
    memcpy(p, &name->head, sizeof name->head);
    q = put_offset(q, u, (uint64_t)z->start_ps);
    if (z->dur_ps) {
        *q++ = XEVENT_DURATION_PS_TAG;
        q = pf_varint(q, (uint64_t)z->dur_ps);
    }
    p[1] = (char)(q - p - 2);
    return q;
}

static int plain_batch(xspace *x, const vl_lines *l, const vpcap_plain *zones,
                       const uint32_t *order, uint32_t n)
{
    const used_name *names = x->names;
    size_t cap = x->name_cap;
    upper_part upper = x->upper;
    char *p = pf_room(&x->file);
    for (uint32_t i = 0; i < n; i++) {
        const vpcap_plain *z = &zones[order[i]];
        if (z->name >= cap || !names[z->name].head_bytes) {
            VP_TRY(use_plain_name(x, l, z->name));
            names = x->names;
            cap = x->name_cap;
        }
        p = put_plain_event(p, &names[z->name], z, &upper);
    }
    x->upper = upper;
    x->counts.events += n;
    return pf_wrote(&x->file, p);
}

static int write_plain_events(void *ctx, const vl_lines *l, const vl_line *line,
                              const vpcap_plain *zones, const uint32_t *order, uint32_t n,
                              const int64_t *groups)
{
    (void)line;
    (void)groups;
    for (uint32_t i = 0, some; i < n; i += some) {
        some = n - i < PLAIN_BATCH ? n - i : PLAIN_BATCH;
        VP_TRY(plain_batch(ctx, l, zones, order + i, some));
    }
    return 0;
}

static int put_scratch(xspace *x)
{
    int rc =
        x->scratch.status < 0 ? x->scratch.status : pf_put(&x->file, x->scratch.p, x->scratch.n);
    x->scratch.n = 0;
    return rc;
}

static int xspace_begin_line(void *ctx, const vl_line *line)
{
    xspace *x = ctx;
    VP_TRY(pf_begin(&x->file, XPLANE_LINES_TAG, &x->line_at));
    vp_pb_put_u64(&x->scratch, XLINE_ID, (uint64_t)line->id);
    put_mended_name(x, &x->scratch, XLINE_NAME, line->name);
    return put_scratch(x);
}

static int xspace_end_line(void *ctx, const vl_line *line)
{
    xspace *x = ctx;
    (void)line;
    return pf_end(&x->file, x->line_at);
}

static int plane_head(xspace *x, int64_t id, vp_str name)
{
    VP_TRY(pf_begin(&x->file, XSPACE_PLANES_TAG, &x->plane_at));
    if (id)
        vp_pb_put_u64(&x->scratch, XPLANE_ID, (uint64_t)id);
    put_mended_name(x, &x->scratch, XPLANE_NAME, name);
    return put_scratch(x);
}

static int xspace_begin_plane(void *ctx, const vl_lines *l, const vl_plane *p)
{
    xspace *x = ctx;
    x->lines = l;
    return plane_head(x, p->id, p->name);
}

/* Appends an entry of a map from ids: the id, and the message in x->message. */
static void put_map_entry(xspace *x, uint32_t field, uint64_t id)
{
    vp_buf entry;
    vp_buf_init(&entry, x->message.max);
    vp_pb_put_u64(&entry, XMAP_KEY, id);
    vp_pb_put_len(&entry, XMAP_VALUE, vp_buf_view(&x->message));
    vp_pb_put_len(&x->scratch, field, vp_buf_view(&entry));
    vp_buf_free(&entry);
    x->message.n = 0;
}

static void put_source_metadata(xspace *x, const vpcap_name *name)
{
    char line[16];
    vp_buf text;
    if (!name->file.n)
        return;
    vp_buf_init(&text, SIZE_MAX / 4);
    vp_buf_str(&text, name->file);
    vp_buf_put(&text, line, (size_t)snprintf(line, sizeof line, ":%u", name->line));
    put_text_stat(x, &x->message, XEVENTMETADATA_STATS, ST_SOURCE, vp_buf_view(&text));
    vp_buf_free(&text);
}

static int event_metadata(xspace *x, uint32_t i)
{
    vpcap_name name = vl_name_at(x->lines, i);
    vp_str category = name.category;
    if (!category.n && (x->names[i].used & USED_TO_COMPILE))
        category = VP_STR("compile");
    vp_pb_put_u64(&x->message, XEVENTMETADATA_ID, (uint64_t)i + 1);
    put_mended_name(x, &x->message, XEVENTMETADATA_NAME, name.name);
    if (category.n)
        put_text_stat(x, &x->message, XEVENTMETADATA_STATS, ST_CATEGORY, category);
    put_source_metadata(x, &name);
    if (name.function.n && !vp_str_eq(name.function, name.name))
        put_text_stat(x, &x->message, XEVENTMETADATA_STATS, ST_FUNCTION, name.function);
    put_map_entry(x, XPLANE_EVENT_METADATA, (uint64_t)i + 1);
    return put_scratch(x);
}

static int stat_metadata(xspace *x)
{
    for (uint32_t i = 1; i < x->stats.count; i++) {
        vp_pb_put_u64(&x->message, XSTATMETADATA_ID, i);
        put_mended_name(x, &x->message, XSTATMETADATA_NAME, vp_intern_get(&x->stats, i));
        put_map_entry(x, XPLANE_STAT_METADATA, i);
        VP_TRY(put_scratch(x));
    }
    return 0;
}

static int put_model(xspace *x, const vl_plane *p)
{
    vp_sid id;
    const char *key = p->kind == VL_GPU ? "gpu_device_name" : "device_type_string";
    if (!p->model.n)
        return 0;
    VP_TRY(vp_intern_put(&x->stats, vp_str_of(key), &id));
    VP_TRY(put_text_stat(x, &x->scratch, XPLANE_STATS, id, p->model));
    return put_scratch(x);
}

static int xspace_end_plane(void *ctx, const vl_lines *l, const vl_plane *p)
{
    xspace *x = ctx;
    uint8_t how = p->kind == VL_HOST ? USED_BY_HOST : USED_BY_DEVICE;
    VP_TRY(put_model(x, p));
    for (uint32_t i = 0; i < vl_names(l) && i < x->name_cap; i++)
        if (is_used(x, i, how))
            VP_TRY(event_metadata(x, i));
    VP_TRY(stat_metadata(x));
    return pf_end(&x->file, x->plane_at);
}

/* ---- Other parts of the file ---- */

static int environment_number(xspace *x, const char *key, int64_t v)
{
    vp_sid id;
    char stat[24], *q = stat;
    VP_TRY(vp_intern_put(&x->stats, vp_str_of(key), &id));
    *q++ = XSTAT_METADATA_ID_TAG;
    q = pf_varint(q, id);
    *q++ = XSTAT_UINT64_VALUE_TAG;
    q = pf_varint(q, (uint64_t)v);
    return vp_pb_put_len(&x->scratch, XPLANE_STATS, (vp_str){stat, (size_t)(q - stat)});
}

static int environment_text(xspace *x, vp_str key, vp_str text)
{
    vp_sid id;
    if (!text.n)
        return 0;
    VP_TRY(vp_intern_put(&x->stats, key, &id));
    return put_text_stat(x, &x->scratch, XPLANE_STATS, id, text);
}

static int64_t rounded_up_ns(int64_t ps)
{
    return ps / 1000 + (ps % 1000 > 0);
}

/* Writes the plane "Task Environment": time and place of the recording, and the program's
 * metadata. */
static int write_environment_plane(xspace *x, const vpcap *v)
{
    const vpcap_info *info = vpcap_info_of(v);
    VP_TRY(plane_head(x, 0, VP_STR("Task Environment")));
    VP_TRY(environment_number(x, "profile_start_time", info->start_unix_ns));
    VP_TRY(environment_number(x, "profile_stop_time",
                              info->start_unix_ns + rounded_up_ns(info->end_ps)));
    if (info->begin_ps)
        VP_TRY(environment_number(x, "window_start_time",
                                  info->start_unix_ns + info->begin_ps / 1000));
    VP_TRY(environment_number(x, "pid", info->pid));
    VP_TRY(environment_text(x, VP_STR("program"), info->program));
    VP_TRY(environment_text(x, VP_STR("recorder"), VP_STR("view_profile " VP_VERSION)));
    for (uint32_t i = 0; i < vpcap_metas(v); i++) {
        vpcap_meta m = vpcap_meta_at(v, i);
        VP_TRY(environment_text(x, m.key, m.value));
    }
    VP_TRY(put_scratch(x));
    VP_TRY(stat_metadata(x));
    return pf_end(&x->file, x->plane_at);
}

static int say_warning(void *ctx, vp_str sentence)
{
    xspace *x = ctx;
    VP_TRY(put_mended_name(x, &x->scratch, XSPACE_WARNINGS, sentence));
    return put_scratch(x);
}

static int write_all_planes(xspace *x, const vpcap *v, vl_more_fn *more, void *more_ctx)
{
    vl_encoder enc = {encode_event,
                      xspace_begin_plane,
                      xspace_end_plane,
                      xspace_begin_line,
                      xspace_end_line,
                      write_encoded_event,
                      write_plain_events,
                      false,
                      x};
    VP_TRY(pf_open(&x->file, x->file.fd));
    VP_TRY(vp_intern_init(&x->stats, &x->arena));
    for (uint32_t i = 1; i < ST_COUNT; i++) {
        vp_sid id;
        VP_TRY(vp_intern_put(&x->stats, vp_str_of(fixed_stats[i]), &id));
    }
    VP_TRY(vl_write(v, &enc, more, more_ctx));
    VP_TRY(write_environment_plane(x, v));
    VP_TRY(vx_losses(v, say_warning, x));
    return 0;
}

static int finish_xspace_file(xspace *x, const vpcap *v, const vp_str *warnings, size_t n)
{
    for (size_t i = 0; i < n; i++)
        VP_TRY(say_warning(x, warnings[i]));
    VP_TRY(put_mended_name(x, &x->scratch, XSPACE_HOSTNAMES, vpcap_info_of(v)->host));
    VP_TRY(put_scratch(x));
    return pf_flush(&x->file);
}

int vx_write(vx_counts *counts, int fd, const vpcap *v, vl_more_fn *more, void *more_ctx,
             const vp_str *warnings, size_t warning_count)
{
    xspace x = {.file = {.fd = fd}, .upper = {.v = UINT64_MAX}};
    vp_arena_init(&x.arena);
    vp_buf_init(&x.scratch, SIZE_MAX / 4);
    vp_buf_init(&x.message, SIZE_MAX / 4);
    vp_buf_init(&x.mended, SIZE_MAX / 4);
    int rc = write_all_planes(&x, v, more, more_ctx);
    if (rc >= 0)
        rc = finish_xspace_file(&x, v, warnings, warning_count);
    x.counts.bytes = x.file.flushed;
    if (rc >= 0 && counts)
        *counts = x.counts;
    pf_free(&x.file);
    vp_free(x.names);
    vp_buf_free(&x.scratch);
    vp_buf_free(&x.message);
    vp_buf_free(&x.mended);
    vp_intern_free(&x.stats);
    vp_arena_free(&x.arena);
    return rc;
}
