/* Names and arguments of an XSpace's events as in jaxlib's JSON. */
#include <stdio.h>
#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/shared/quote.h"
#include "trace/export/xspace/xspace_json.h"
#include "trace/vpcap/xspace_fields.h"

/* Maximum args of one event; real ones have at most forty. */
#define ARGS_MAX 1024u

/* Stats that jaxlib does not export (docs/reference/xprof.md#trace-json). Old writers, up to 2025,
 * also left out kernel_details; we export it, because a kernel's grid and registers are useful. */
static bool is_internal_stat(vp_str name)
{
    static const char *const names[] = {"_pt", "_p",    "_ct",        "_c",
                                        "_r",  "flops", "program_id", "symbol_id"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (vp_str_eq(name, vp_str_of(names[i])))
            return true;
    return false;
}

/* Quoted unless texts stay raw, in the arena; VP_STR_NONE if out of memory. */
static vp_str quoted_in_arena(xj_names *n, vp_str s)
{
    n->scratch.n = 0;
    if (n->raw) {
        char *copy = vp_arena_strndup(&n->arena, s.n ? s.p : "", s.n);
        return copy ? (vp_str){copy, s.n} : VP_STR_NONE;
    }
    if (ex_quote(&n->scratch, s) < 0)
        return VP_STR_NONE;
    char *p = vp_arena_strndup(&n->arena, n->scratch.p, n->scratch.n);
    return p ? (vp_str){p, n->scratch.n} : VP_STR_NONE;
}

static uint8_t fact_of(xs_stat_role role)
{
    static const uint8_t facts[XS_STAT_ROLES] = {
        [XS_STAT_CORRELATION] = XJ_CORRELATION,     [XS_STAT_PRODUCER] = XJ_PRODUCER,
        [XS_STAT_PRODUCER_TYPE] = XJ_PRODUCER_TYPE, [XS_STAT_CONSUMER] = XJ_CONSUMER,
        [XS_STAT_CONSUMER_TYPE] = XJ_CONSUMER_TYPE, [XS_STAT_FLOW] = XJ_FLOW,
        [XS_STAT_MEM_USED] = XJ_MEM_USED,           [XS_STAT_MEM_FREE] = XJ_MEM_FREE,
        [XS_STAT_MEM_RESERVED] = XJ_MEM_RESERVED,   [XS_STAT_MEM_DEVICE] = XJ_MEM_DEVICE,
        [XS_STAT_ALLOCATOR] = XJ_ALLOCATOR,
    };
    return facts[role];
}

typedef struct ranked {
    vp_str name;
    uint32_t stat;
} ranked;

static int by_key_name(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
    int c = n ? memcmp(x->name.p, y->name.p, n) : 0;
    if (c)
        return c;
    return x->name.n < y->name.n ? -1 : x->name.n > y->name.n;
}

static uint32_t key_by_map(const xj_names *n, uint64_t stat_id)
{
    uint32_t i = vp_map_get(&n->plane->stat_by_id, stat_id);
    return i == VP_MAP_NONE ? n->empty_key : n->key_of_stat[i];
}

/* The names of stats, then those without a stat: long_name, and the empty name. */
static int make_keys(xj_names *n)
{
    size_t stats = n->plane->stat_count, count = stats + 2, keys = 0;
    VP_CLEANUP(vp_free_ptr) ranked *order = vp_calloc(count, sizeof *order);
    n->key_of_stat = vp_calloc(count, sizeof *n->key_of_stat);
    n->keys = vp_calloc(count, sizeof *n->keys);
    n->key_dense = vp_calloc(XJ_DENSE, sizeof *n->key_dense);
    if (!order || !n->key_of_stat || !n->keys || !n->key_dense)
        return vp_no_memory();
    for (uint32_t i = 0; i < stats; i++)
        order[i] = (ranked){n->plane->stat_names[i], i};
    order[stats] = (ranked){VP_STR("long_name"), (uint32_t)stats};
    order[stats + 1] = (ranked){VP_STR(""), (uint32_t)stats + 1};
    qsort(order, count, sizeof *order, by_key_name);
    for (size_t i = 0; i < count; i++) {
        if (!i || by_key_name(&order[i - 1], &order[i]) != 0) {
            xj_key *k = &n->keys[keys++];
            *k = (xj_key){quoted_in_arena(n, order[i].name), is_internal_stat(order[i].name),
                          vp_str_eq(order[i].name, VP_STR("step_name")),
                          order[i].stat < stats ? fact_of(n->plane->stat_roles[order[i].stat]) : 0};
            VP_NEED(k->text.p);
        }
        n->key_of_stat[order[i].stat] = (uint32_t)keys - 1;
    }
    n->key_count = n->text_count = (uint32_t)keys;
    n->long_name_key = n->key_of_stat[stats];
    n->empty_key = n->key_of_stat[stats + 1];
    for (uint32_t id = 0; id < XJ_DENSE; id++)
        n->key_dense[id] = key_by_map(n, id);
    return 0;
}

int xj_names_make(xj_names *n, xs_plane *plane, bool raw)
{
    *n = (xj_names){.plane = plane, .raw = raw};
    vp_arena_init(&n->arena);
    vp_buf_init(&n->scratch, VP_XPLANE_META_MAX);
    n->meta = vp_calloc(plane->meta_count + 1, sizeof *n->meta);
    n->args = vp_calloc(ARGS_MAX + 1, sizeof *n->args); /* and the one being read */
    VP_NEED(n->meta && n->args);
    return make_keys(n);
}

void xj_names_free(xj_names *n)
{
    vp_arena_free(&n->arena);
    vp_buf_free(&n->scratch);
    vp_free(n->key_of_stat);
    vp_free(n->key_dense);
    vp_free(n->keys);
    vp_free(n->meta);
    vp_free(n->args);
}

static inline uint32_t stat_key_of(const xj_names *n, uint64_t stat_id)
{
    return stat_id < XJ_DENSE ? n->key_dense[stat_id] : key_by_map(n, stat_id);
}

/* Inserts the arg after the *count sorted ones at its position. */
static int insert_arg_sorted(xj_names *n, uint32_t *count)
{
    xj_arg arg = n->args[*count];
    uint32_t at = *count;
    while (at && n->args[at - 1].key > arg.key)
        at--;
    if (at && n->args[at - 1].key == arg.key) {
        n->args[at - 1] = arg;
        return 0;
    }
    if (*count == ARGS_MAX)
        return VP_ECORRUPT;
    memmove(n->args + at + 1, n->args + at, (*count - at) * sizeof *n->args);
    n->args[at] = arg;
    ++*count;
    return 0;
}

/* Counts the arg after the *count ones, which stay sorted; events usually list their stats in the
 * order of their keys. */
static inline int add_arg_sorted(xj_names *n, uint32_t *count)
{
    const xj_arg *arg = &n->args[*count];
    if (*count == ARGS_MAX || (*count && arg[-1].key >= arg->key))
        return insert_arg_sorted(n, count);
    ++*count;
    return 0;
}

static bool read_arg_value(const xj_names *n, const vp_pb_field *f, xj_arg *arg)
{
    bool text = f->wire == VP_PB_LEN;
    arg->u = f->u;
    switch (f->number) {
    case XSTAT_DOUBLE_VALUE:
        arg->type = XJ_DOUBLE;
        return f->wire == VP_PB_FIXED64;
    case XSTAT_UINT64_VALUE:
        arg->type = XJ_UINT;
        return f->wire == VP_PB_VARINT;
    case XSTAT_INT64_VALUE:
        arg->type = XJ_INT;
        return f->wire == VP_PB_VARINT;
    case XSTAT_STR_VALUE:
        arg->type = XJ_TEXT;
        arg->text = f->data;
        return text;
    case XSTAT_BYTES_VALUE:
        arg->type = XJ_QUOTED;
        arg->text = n->raw ? VP_STR("<opaque bytes>") : VP_STR("\"<opaque bytes>\"");
        return text;
    case XSTAT_REF_VALUE:
        arg->type = XJ_QUOTED;
        arg->known = stat_key_of(n, f->u) + 1;
        arg->text = n->keys[arg->known - 1].text;
        return f->wire == VP_PB_VARINT;
    default:
        return false;
    }
}

/* Only numbers, except for the allocator, which is a text or the name of a stat. */
static void take_fact(xj_names *n, uint8_t fact, const vp_pb_field *value)
{
    xj_facts *facts = &n->facts;
    uint32_t i;
    if (fact == XJ_ALLOCATOR) {
        i = value->number == XSTAT_REF_VALUE ? vp_map_get(&n->plane->stat_by_id, value->u)
                                             : VP_MAP_NONE;
        facts->allocator = i == VP_MAP_NONE ? value->data : n->plane->stat_names[i];
    } else if (value->wire != VP_PB_VARINT) {
        return;
    }
    facts->v[fact] = value->u;
    facts->has |= 1u << fact;
}

/* The last value, a varint. */
static bool read_last(vp_pb *r, vp_pb_field *value)
{
    vp_pb at = *r;
    unsigned number = at.p < at.end ? *at.p >> 3 : 0;
    if (number < XSTAT_DOUBLE_VALUE || number > XSTAT_REF_VALUE || (*at.p & 7) != VP_PB_VARINT)
        return false;
    at.p++;
    if (!vp_pb_varint(&at, &value->u) || at.p != at.end)
        return false;
    value->number = number;
    value->wire = VP_PB_VARINT;
    return true;
}

/* The id and the value of an XStat; value->number is 0 if it has none. The usual form, in that
 * order, is parsed directly. */
static bool split_stat(vp_str stat, uint64_t *id, vp_pb_field *value)
{
    vp_pb r = vp_pb_of(stat);
    vp_pb_field f;
    int rc;
    *id = 0;
    value->number = 0;
    value->u = 0;
    if (stat.n > 2 && *r.p == XSTAT_METADATA_ID_TAG) {
        r.p++;
        if (!vp_pb_varint(&r, id))
            return false;
        if (read_last(&r, value))
            return true;
    }
    while ((rc = vp_pb_next(&r, &f)) > 0) {
        if (f.number == XSTAT_METADATA_ID && f.wire == VP_PB_VARINT)
            *id = f.u;
        else if (f.number >= XSTAT_DOUBLE_VALUE && f.number <= XSTAT_REF_VALUE)
            *value = f;
    }
    return rc == 0;
}

/* Adds the arg of an XStat to the *count at n->args, which stay sorted. VP_ECORRUPT (not recorded).
 */
static int set_arg_from_stat(xj_names *n, uint32_t *count, vp_str stat)
{
    vp_pb_field value;
    xj_arg *arg = &n->args[*count];
    uint64_t id;
    if (!split_stat(stat, &id, &value))
        return VP_ECORRUPT;
    arg->key = stat_key_of(n, id);
    arg->known = 0;
    if (!value.number || !read_arg_value(n, &value, arg))
        return 0;
    const xj_key *key = &n->keys[arg->key];
    if (key->fact)
        take_fact(n, key->fact, &value);
    return key->hidden ? 0 : add_arg_sorted(n, count);
}

int xj_names_stats(xj_names *n, uint32_t *count, const xj_event *e)
{
    vp_pb r = vp_pb_of(e->stats);
    vp_pb_field f;
    vp_str stat;
    n->facts.has = 0;
    while (vp_pb_take_short(&r, XEVENT_STATS_TAG, &stat))
        VP_TRY(set_arg_from_stat(n, count, stat));
    while (vp_pb_next(&r, &f) > 0)
        if (f.number == XEVENT_STATS && f.wire == VP_PB_LEN)
            VP_TRY(set_arg_from_stat(n, count, f.data));
    return 0;
}

/* Quotes the texts of n->args and stores them with the metadata. */
static int keep_args(xj_names *n, xj_meta *m, uint32_t count)
{
    m->args = vp_arena_alloc(&n->arena, (count + !count) * sizeof *m->args);
    VP_NEED(m->args);
    m->arg_count = count;
    for (uint32_t i = 0; i < count; i++) {
        m->args[i] = n->args[i];
        m->mask |= xj_mask(n->args[i].key);
        m->step = m->step || n->keys[n->args[i].key].step;
        if (m->args[i].type != XJ_TEXT)
            continue;
        m->args[i].type = XJ_QUOTED;
        m->args[i].known = ++n->text_count;
        m->args[i].text = quoted_in_arena(n, n->args[i].text);
        VP_NEED(m->args[i].text.p);
    }
    return 0;
}

/* A damaged stat loses only that stat, not the metadata. */
static int make_meta(xj_names *n, xj_meta *m, vp_str bytes)
{
    vp_str name = VP_STR(""), display = VP_STR("");
    uint32_t count = 0;
    vp_pb r = vp_pb_of(bytes);
    vp_pb_field f;
    while (vp_pb_next(&r, &f) > 0) {
        if (f.number == XEVENTMETADATA_NAME && f.wire == VP_PB_LEN)
            name = f.data;
        else if (f.number == XEVENTMETADATA_DISPLAY_NAME && f.wire == VP_PB_LEN)
            display = f.data;
    }
    if (display.n) {
        n->args[count] = (xj_arg){.key = n->long_name_key, .type = XJ_TEXT, .text = name};
        add_arg_sorted(n, &count);
    }
    for (r = vp_pb_of(bytes); vp_pb_next(&r, &f) > 0;)
        if (f.number == XEVENTMETADATA_STATS && f.wire == VP_PB_LEN)
            set_arg_from_stat(n, &count, f.data);
    m->name = quoted_in_arena(n, display.n ? display : name);
    VP_NEED(m->name.p);
    m->made = true;
    return keep_args(n, m, count);
}

const xj_meta *xj_names_meta(xj_names *n, int64_t id)
{
    const xs_meta *x = xs_plane_meta(n->plane, id);
    xj_meta *m = &n->meta[x ? (size_t)(x - n->plane->meta) : n->plane->meta_count];
    if (!m->made && make_meta(n, m, x ? x->bytes : VP_STR("")) < 0)
        return NULL;
    return m;
}

/* In quotes, as in jaxlib; doubles with six digits. */
static void put_quoted_number(vp_buf *b, const xj_arg *arg)
{
    char text[40], *end = text + sizeof text - 1, *p = end;
    bool minus = arg->type == XJ_INT && (int64_t)arg->u < 0;
    uint64_t u = minus ? 0 - arg->u : arg->u;
    double d;
    if (arg->type == XJ_DOUBLE) {
        memcpy(&d, &arg->u, sizeof d);
        vp_buf_put(b, text, (size_t)snprintf(text, sizeof text, "\"%g\"", d));
        return;
    }
    *--p = '"';
    do
        *--p = (char)('0' + u % 10);
    while (u /= 10);
    if (minus)
        *--p = '-';
    *--p = '"';
    vp_buf_put(b, p, (size_t)(end - p));
}

void xj_put_value(vp_buf *b, const xj_arg *arg)
{
    if (arg->type == XJ_QUOTED)
        vp_buf_str(b, arg->text);
    else if (arg->type == XJ_TEXT)
        ex_quote(b, arg->text);
    else
        put_quoted_number(b, arg);
}
