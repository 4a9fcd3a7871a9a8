/* Kinds: event metadata, and stats that define a kind. */
#include "trace/vpcap/xspace_fields.h"
#include "trace/read/semantics/roles.h"
#include "trace/read/xspace/xs_read.h"

/* Stats of the event override those of its metadata; of a repeated stat the last one is used
 * (docs/reference/jax-cpu.md#repeated-stats). */
static void decode_event_stats(const xs_plane *pl, vp_str event, xs_value stats[XS_STAT_ROLES])
{
    vp_pb r = vp_pb_of(event);
    vp_pb_field f;
    while (vp_pb_next(&r, &f) > 0) {
        xs_stat_role role;
        xs_value v;
        if (f.number == XEVENT_STATS && f.wire == VP_PB_LEN &&
            xs_stat_decode(pl, f.data, &role, &v))
            stats[role] = v;
    }
}

static int parse_module(xs_reader *r, xs_hlo *h)
{
    h->tried = true;
    int rc = hlo_module_parse(&h->module, h->proto);
    return rc >= 0 || rc == VP_ENOMEM
               ? rc
               : r->out->quality(r->out, &(sink_quality){"hlo-damaged", SINK_WARNING,
                                                         VP_STR("an HLO proto is damaged: scopes "
                                                                "and sources of its ops are "
                                                                "missing"),
                                                         -1, -1, false});
}

/* *out is NULL if the module is missing, or damaged (which is reported once). */
static int module_of_program(xs_reader *r, int64_t program_id, hlo_module **out)
{
    uint32_t i = vp_map_get(&r->hlo_by_program, (uint64_t)program_id);
    *out = NULL;
    if (i == VP_MAP_NONE)
        return 0;
    if (!r->hlo[i].tried)
        VP_TRY(parse_module(r, &r->hlo[i]));
    *out = r->hlo[i].module;
    return 0;
}

/* TPU events have neither hlo_op nor hlo_module: the event's name is the instruction's, and the
 * program id is in the event's metadata. */
static int join_hlo(xs_reader *r, sink_kind *k)
{
    hlo_instruction in;
    hlo_module *m;
    if (k->program_id == SINK_UNKNOWN)
        return 0;
    VP_TRY(module_of_program(r, k->program_id, &m));
    if (!m)
        return 0;
    if (!k->module.n)
        k->module = hlo_module_name(m);
    int found = hlo_module_find(m, hlo_innermost(k->hlo_op.n ? k->hlo_op : k->name), &in);
    if (found <= 0)
        return found;
    if (!k->scope.n || vp_str_starts(k->scope, VP_STR("XlaModule"))) /* XLA:GPU's default tf_op */
        k->scope = in.op_name;
    if (!k->source.n)
        k->source = in.source;
    k->hlo_opcode = in.opcode;
    if (!k->shape.n)
        k->shape = in.shape;
    if (k->group_size == SINK_UNKNOWN)
        k->group_size = in.group_size;
    k->groups = in.groups;
    k->program = in.program;
    return 0;
}

/* Fields of MemoryAccessBreakdown and its MemoryAccessed (xprof's op_metrics.proto). */
enum { BREAKDOWN_ACCESSED = 1, ACCESSED_SPACE = 2, ACCESSED_BYTES = 3, SPACE_HBM = 1 };

static void add_accessed(sink_kind *k, vp_str message)
{
    vp_pb r = vp_pb_of(message);
    vp_pb_field f;
    uint64_t space = 0, bytes = 0;
    while (vp_pb_next(&r, &f) > 0) {
        if (f.number == ACCESSED_SPACE && f.wire == VP_PB_VARINT)
            space = f.u;
        else if (f.number == ACCESSED_BYTES && f.wire == VP_PB_VARINT)
            bytes = f.u;
    }
    if (space == SPACE_HBM &&
        (bytes > INT64_MAX || __builtin_add_overflow(k->hbm_bytes, (int64_t)bytes, &k->hbm_bytes)))
        k->hbm_bytes = INT64_MAX;
}

/* The part of an op's bytes that accesses HBM, if its breakdown is known. */
static void read_breakdown(sink_kind *k, const xs_value *v)
{
    vp_pb r = vp_pb_of(v->text);
    vp_pb_field f;
    if (v->wire != XSTAT_BYTES_VALUE)
        return;
    while (vp_pb_next(&r, &f) > 0)
        if (f.number == BREAKDOWN_ACCESSED && f.wire == VP_PB_LEN) {
            k->has_hbm = true;
            add_accessed(k, f.data);
        }
}

/* True for a number that overflows or is negative. */
static bool is_bad_number(const xs_value *v)
{
    return v->wire && v->wire != XSTAT_STR_VALUE && v->wire != XSTAT_REF_VALUE &&
           xs_value_i64(v) < 0;
}

static bool has_bad_cost(const xs_value st[XS_STAT_ROLES])
{
    return is_bad_number(&st[XS_STAT_MODEL_FLOPS]) || is_bad_number(&st[XS_STAT_FLOPS]) ||
           is_bad_number(&st[XS_STAT_BYTES]);
}

static int64_t number_or_none(const xs_value *v)
{
    int64_t n = xs_value_i64(v);
    return n > 0 ? n : 0;
}

static int make_kind(xs_line_ctx *c, const xs_meta *meta, vp_str event, bool cpu_op, uint32_t *kind)
{
    xs_value st[XS_STAT_ROLES] = {0};
    vp_str name, display;
    xs_meta_decode(c->plane, meta->bytes, &name, &display, st);
    decode_event_stats(c->plane, event, st);
    c->r->bad_costs += has_bad_cost(st);
    int64_t model_flops = xs_value_i64(&st[XS_STAT_MODEL_FLOPS]);
    sink_kind k = {.name = display.n ? display : name,
                   .long_name = display.n ? name : VP_STR_NONE,
                   .category = st[XS_STAT_HLO_CATEGORY].text,
                   .opcode = rd_hlo_opcode(name),
                   .hlo_op = st[XS_STAT_HLO_OP].text,
                   .module = st[XS_STAT_HLO_MODULE].text,
                   .scope = st[XS_STAT_TF_OP].text,
                   .source = st[XS_STAT_SOURCE].text,
                   .shape = st[XS_STAT_SHAPE].text,
                   .stream_label = c->stream_label,
                   .memcpy = st[XS_STAT_MEMCPY].text,
                   .launch = st[XS_STAT_LAUNCH].text,
                   .twin_of = st[XS_STAT_TWIN].text,
                   .group_size = rd_group_size(name),
                   .program_id = xs_value_i64(&st[XS_STAT_PROGRAM_ID]),
                   .graph = number_or_none(&st[XS_STAT_GRAPH]),
                   .graph_node = number_or_none(&st[XS_STAT_GRAPH_NODE]),
                   .bytes = xs_value_i64(&st[XS_STAT_BYTES]),
                   .flops =
                       model_flops != SINK_UNKNOWN ? model_flops : xs_value_i64(&st[XS_STAT_FLOPS]),
                   .is_op = cpu_op || c->role == SINK_ROLE_OPS,
                   .unfinished = xs_value_i64(&st[XS_STAT_UNFINISHED]) == 1};
    if (k.group_size == SINK_UNKNOWN)
        k.group_size = xs_value_i64(&st[XS_STAT_GROUP_SIZE]);
    if (!k.is_op && !k.category.n)
        k.category = st[XS_STAT_CATEGORY].text;
    if (cpu_op)
        k.name = k.hlo_op;
    if (k.bytes == SINK_UNKNOWN && st[XS_STAT_MEMCPY].text.n)
        k.bytes = rd_memcpy_bytes(st[XS_STAT_MEMCPY].text);
    read_breakdown(&k, &st[XS_STAT_BREAKDOWN]);
    k.bytes = rd_cost(k.category, k.bytes);
    k.flops = rd_cost(k.category, k.flops);
    if (k.is_op)
        VP_TRY(join_hlo(c->r, &k));
    if (cpu_op && !k.opcode.n)
        k.opcode = k.hlo_opcode;
    while (k.scope.n && k.scope.p[k.scope.n - 1] == ':')
        k.scope.n--;
    return c->r->out->kind(c->r->out, &k, kind);
}

int xs_kind_of_meta(xs_line_ctx *c, xs_meta *meta, uint32_t *kind)
{
    if (meta->kind == SINK_NONE)
        VP_TRY(make_kind(c, meta, VP_STR_NONE, false, &meta->kind));
    *kind = meta->kind;
    return 0;
}

int xs_kind_of_event(xs_line_ctx *c, xs_meta *meta, uint64_t key, vp_str event, bool cpu_op,
                     uint32_t *kind)
{
    key ^= vp_mix((uint64_t)(meta - c->plane->meta) << 20 ^ (uint64_t)c->plane_index << 2 ^
                  (cpu_op ? 1u : 0u));
    *kind = vp_map_get(&c->r->kinds, key);
    if (*kind != VP_MAP_NONE)
        return 0;
    VP_TRY(make_kind(c, meta, event, cpu_op, kind));
    return vp_map_set(&c->r->kinds, key, *kind);
}
