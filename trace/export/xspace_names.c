/* Names and arguments of an XSpace's events as jaxlib's JSON has them. */
#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/xspace_json.h"
#include "trace/image/xspace_fields.h"

/* Args of one event; real ones have at most forty. */
#define ARGS_MAX 1024u

/* Stats and events that jaxlib keeps for itself (xprof.md 3.1). Writers up to 2025 kept
 * kernel_details, too; a kernel's grid and registers are worth showing. */
static bool is_internal_stat(vp_str name)
{
    static const char *const names[] = {"_pt", "_p",    "_ct",        "_c",
                                        "_r",  "flops", "program_id", "symbol_id"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (vp_str_eq(name, vp_str_of(names[i])))
            return true;
    return false;
}

static bool is_internal_event(vp_str name)
{
    static const char *const sources[] = {"Prefetch", "ParallelInterleave", "ParallelMap",
                                          "MapAndBatch", "ParseExample"};
    if (vp_str_eq(name, VP_STR("ParallelInterleaveInitializedInput")) ||
        vp_str_eq(name, VP_STR("MemoryAllocation")) ||
        vp_str_eq(name, VP_STR("MemoryDeallocation")))
        return true;
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        vp_str source = vp_str_of(sources[i]);
        vp_str what = vp_str_skip(name, source.n);
        if (vp_str_starts(name, source) &&
            (vp_str_eq(what, VP_STR("Produce")) || vp_str_eq(what, VP_STR("Consume"))))
            return true;
    }
    return false;
}

/* Quoted, in the arena; VP_STR_NONE when out of memory. */
static vp_str quoted(xj_names *n, vp_str s)
{
    n->scratch.n = 0;
    if (vp_json_quote(&n->scratch, s) < 0)
        return VP_STR_NONE;
    char *p = vp_arena_strndup(&n->arena, n->scratch.p, n->scratch.n);
    return p ? (vp_str){p, n->scratch.n} : VP_STR_NONE;
}

typedef struct ranked {
    vp_str name;
    uint32_t stat;
} ranked;

static int by_name(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
    int c = n ? memcmp(x->name.p, y->name.p, n) : 0;
    if (c)
        return c;
    return x->name.n < y->name.n ? -1 : x->name.n > y->name.n;
}

/* The stats' names and, behind them, those that need no stat: long_name, and no name at all. */
static int make_keys(xj_names *n)
{
    size_t stats = n->plane->stat_count, count = stats + 2, keys = 0;
    VP_CLEANUP(vp_free_ptr) ranked *order = vp_calloc(count, sizeof *order);
    n->key_of_stat = vp_calloc(count, sizeof *n->key_of_stat);
    n->keys = vp_calloc(count, sizeof *n->keys);
    if (!order || !n->key_of_stat || !n->keys)
        return vp_no_memory();
    for (uint32_t i = 0; i < stats; i++)
        order[i] = (ranked){n->plane->stat_names[i], i};
    order[stats] = (ranked){VP_STR("long_name"), (uint32_t)stats};
    order[stats + 1] = (ranked){VP_STR(""), (uint32_t)stats + 1};
    qsort(order, count, sizeof *order, by_name);
    for (size_t i = 0; i < count; i++) {
        if (!i || by_name(&order[i - 1], &order[i]) != 0) {
            xj_key *k = &n->keys[keys++];
            *k = (xj_key){quoted(n, order[i].name), is_internal_stat(order[i].name),
                          vp_str_eq(order[i].name, VP_STR("step_name"))};
            VP_NEED(k->text.p);
        }
        n->key_of_stat[order[i].stat] = (uint32_t)keys - 1;
    }
    n->long_name_key = n->key_of_stat[stats];
    n->empty_key = n->key_of_stat[stats + 1];
    return 0;
}

int xj_names_make(xj_names *n, xs_plane *plane)
{
    *n = (xj_names){.plane = plane};
    vp_arena_init(&n->arena);
    vp_buf_init(&n->scratch, VP_XPLANE_META_MAX);
    n->meta = vp_calloc(plane->meta_count + 1, sizeof *n->meta);
    n->args = vp_calloc(ARGS_MAX, sizeof *n->args);
    VP_NEED(n->meta && n->args);
    return make_keys(n);
}

void xj_names_free(xj_names *n)
{
    vp_arena_free(&n->arena);
    vp_buf_free(&n->scratch);
    vp_free(n->key_of_stat);
    vp_free(n->keys);
    vp_free(n->meta);
    vp_free(n->args);
}

static uint32_t key_of(const xj_names *n, uint64_t stat_id)
{
    uint32_t i = vp_map_get(&n->plane->stat_by_id, stat_id);
    return i == VP_MAP_NONE ? n->empty_key : n->key_of_stat[i];
}

/* Keeps n->args sorted; events name their stats mostly in the order of their ids. */
static int insert(xj_names *n, uint32_t *count, const xj_arg *arg)
{
    uint32_t at = *count;
    while (at && n->args[at - 1].key > arg->key)
        at--;
    if (at && n->args[at - 1].key == arg->key) {
        n->args[at - 1] = *arg;
        return 0;
    }
    if (*count == ARGS_MAX)
        return VP_ECORRUPT;
    memmove(n->args + at + 1, n->args + at, (*count - at) * sizeof *n->args);
    n->args[at] = *arg;
    ++*count;
    return 0;
}

static bool value_of(const xj_names *n, const vp_pb_field *f, xj_arg *arg)
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
        arg->text = VP_STR("\"<opaque bytes>\"");
        return text;
    case XSTAT_REF_VALUE:
        arg->type = XJ_QUOTED;
        arg->text = n->keys[key_of(n, f->u)].text;
        return f->wire == VP_PB_VARINT;
    default:
        return false;
    }
}

int xj_names_set(xj_names *n, uint32_t *count, vp_str stat)
{
    vp_pb r = vp_pb_of(stat);
    vp_pb_field f;
    xj_arg arg = {0};
    uint64_t id = 0;
    bool set = false;
    int rc;
    while ((rc = vp_pb_next(&r, &f)) > 0) {
        if (f.number == XSTAT_METADATA_ID && f.wire == VP_PB_VARINT)
            id = f.u;
        else if (f.number >= XSTAT_DOUBLE_VALUE && f.number <= XSTAT_REF_VALUE)
            set = value_of(n, &f, &arg);
    }
    if (rc < 0)
        return VP_ECORRUPT;
    arg.key = key_of(n, id);
    return set && !n->keys[arg.key].hidden ? insert(n, count, &arg) : 0;
}

/* Quotes the texts of n->args and keeps them with the metadata. */
static int keep_args(xj_names *n, xj_meta *m, uint32_t count)
{
    m->args = vp_arena_alloc(&n->arena, (count + !count) * sizeof *m->args);
    VP_NEED(m->args);
    m->arg_count = count;
    for (uint32_t i = 0; i < count; i++) {
        m->args[i] = n->args[i];
        if (m->args[i].type != XJ_TEXT)
            continue;
        m->args[i].type = XJ_QUOTED;
        m->args[i].text = quoted(n, n->args[i].text);
        VP_NEED(m->args[i].text.p);
    }
    return 0;
}

/* A damaged stat costs that stat, not the metadata. */
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
        xj_arg long_name = {.key = n->long_name_key, .type = XJ_TEXT, .text = name};
        insert(n, &count, &long_name);
    }
    for (r = vp_pb_of(bytes); vp_pb_next(&r, &f) > 0;)
        if (f.number == XEVENTMETADATA_STATS && f.wire == VP_PB_LEN)
            xj_names_set(n, &count, f.data);
    m->name = quoted(n, display.n ? display : name);
    VP_NEED(m->name.p);
    m->internal = is_internal_event(name);
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

void xj_put_value(vp_buf *b, const xj_arg *arg)
{
    double d;
    switch (arg->type) {
    case XJ_QUOTED:
        vp_buf_str(b, arg->text);
        break;
    case XJ_TEXT:
        vp_json_quote(b, arg->text);
        break;
    default:
        vp_buf_putc(b, '"');
        if (arg->type == XJ_INT) {
            vp_buf_i64(b, (int64_t)arg->u);
        } else if (arg->type == XJ_UINT) {
            vp_buf_u64(b, arg->u);
        } else { /* six digits, as jaxlib has it */
            memcpy(&d, &arg->u, sizeof d);
            vp_buf_printf(b, "%g", d);
        }
        vp_buf_putc(b, '"');
    }
}
