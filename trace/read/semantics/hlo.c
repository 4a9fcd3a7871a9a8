#include "trace/read/semantics/hlo.h"

#include <stdio.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"
#include "trace/read/semantics/hlo_fields.h"
#include "trace/read/semantics/hlo_groups.h"
#include "trace/read/semantics/hlo_types.h"

typedef struct instruction {
    vp_str name, opcode, op_name, shape, source_file;
    int64_t id, source_line, frame;
    int64_t calls; /* id of the first called computation, or -1 */
    int64_t group_size;
    vp_str bytes;     /* serialized */
    vp_str groups;    /* as text, made on first use */
    vp_str inherited; /* scope of its first user, see inherit_scopes */
} instruction;

typedef struct computation {
    int64_t id, root_id;
    size_t first, count; /* its instructions */
    vp_str fused;        /* scope when used as a fusion, see fused_known */
    bool fused_known, inherited_known;
} computation;

typedef struct list {
    vp_str *v;
    size_t n, cap;
} list;

struct hlo_module {
    vp_arena arena;
    vp_str name;
    instruction *v;
    size_t n, cap;
    computation *comps;
    size_t comp_n, comp_cap;
    list files, locations, frames; /* of the stack frame index */
    vp_map by_name;                /* hash of a name → first instruction with this hash */
    vp_map comp_by_id;
    vp_str assignment, program; /* assignment: the proto; program: its text, made on first use */
};

static int list_put(list *l, vp_str s)
{
    VP_TRY(vp_grow(&l->v, &l->cap, l->n + 1, sizeof s, VP_HLO_INSTRUCTIONS_MAX));
    l->v[l->n++] = s;
    return 0;
}

/* The last varint of the field in a small message, or `def`. */
static int64_t last_varint_field(vp_str message, uint32_t field, int64_t def)
{
    vp_pb r = vp_pb_of(message);
    vp_pb_field f;
    while (vp_pb_next(&r, &f) > 0)
        if (f.number == field && f.wire == VP_PB_VARINT)
            def = (int64_t)f.u;
    return def;
}

/* The first number of a repeated int64 field, packed or not. */
static int64_t first_packed(const vp_pb_field *f)
{
    uint64_t v;
    vp_pb r = vp_pb_of(f->data);
    if (f->wire == VP_PB_VARINT)
        return (int64_t)f->u;
    return f->wire == VP_PB_LEN && vp_pb_varint(&r, &v) ? (int64_t)v : -1;
}

static void names_read_metadata(instruction *in, vp_str bytes)
{
    vp_pb r = vp_pb_of(bytes);
    vp_pb_field f;
    while (vp_pb_next(&r, &f) > 0) {
        if (f.number == OP_METADATA_OP_NAME && f.wire == VP_PB_LEN)
            in->op_name = f.data;
        else if (f.number == OP_METADATA_SOURCE_FILE && f.wire == VP_PB_LEN)
            in->source_file = f.data;
        else if (f.number == OP_METADATA_SOURCE_LINE && f.wire == VP_PB_VARINT)
            in->source_line = (int64_t)f.u;
        else if (f.number == OP_METADATA_STACK_FRAME_ID && f.wire == VP_PB_VARINT)
            in->frame = (int64_t)f.u;
    }
}

/* Number of ids in a ReplicaGroup, packed or not; -1: none. */
static int64_t group_length(vp_str group)
{
    vp_pb r = vp_pb_of(group);
    vp_pb_field f;
    int64_t n = 0;
    while (vp_pb_next(&r, &f) > 0) {
        uint64_t id;
        if (f.number != REPLICA_GROUP_REPLICA_IDS)
            continue;
        vp_pb ids = vp_pb_of(f.data);
        if (f.wire == VP_PB_VARINT)
            n++;
        else
            while (f.wire == VP_PB_LEN && vp_pb_varint(&ids, &id))
                n++;
    }
    return n ? n : -1;
}

static int64_t device_list_group(vp_str devices)
{
    vp_pb r = vp_pb_of(devices);
    vp_pb_field f;
    while (vp_pb_next(&r, &f) > 0)
        if (f.wire == VP_PB_LEN && f.number == COLLECTIVE_DEVICE_LIST_REPLICA_GROUPS)
            return group_length(f.data);
        else if (f.wire == VP_PB_LEN && f.number == COLLECTIVE_DEVICE_LIST_IOTA_REPLICA_GROUP_LIST)
            return last_varint_field(f.data, IOTA_REPLICA_GROUP_LIST_NUM_DEVICES_PER_GROUP, -1);
    return -1;
}

static int names_read_instruction(hlo_module *m, vp_str bytes)
{
    instruction in = {.calls = -1, .id = -1, .group_size = -1, .bytes = bytes};
    vp_pb r = vp_pb_of(bytes);
    vp_pb_field f;
    int rc;
    while ((rc = vp_pb_next(&r, &f)) > 0) {
        bool text = f.wire == VP_PB_LEN;
        if (f.number == HLO_INSTRUCTION_NAME && text)
            in.name = f.data;
        else if (f.number == HLO_INSTRUCTION_OPCODE && text)
            in.opcode = f.data;
        else if (f.number == HLO_INSTRUCTION_SHAPE && text)
            in.shape = f.data;
        else if (f.number == HLO_INSTRUCTION_METADATA && text)
            names_read_metadata(&in, f.data);
        else if (f.number == HLO_INSTRUCTION_ID && !text)
            in.id = (int64_t)f.u;
        else if (f.number == HLO_INSTRUCTION_CALLED_COMPUTATION_IDS && in.calls < 0)
            in.calls = first_packed(&f);
        else if (f.number == HLO_INSTRUCTION_REPLICA_GROUPS && text && in.group_size < 0)
            in.group_size = group_length(f.data);
        else if (f.number == HLO_INSTRUCTION_COLLECTIVE_DEVICE_LIST && text)
            in.group_size = device_list_group(f.data);
    }
    if (rc < 0)
        return vp_fail(VP_ECORRUPT, "damaged HLO instruction");
    VP_TRY(vp_grow(&m->v, &m->cap, m->n + 1, sizeof in, VP_HLO_INSTRUCTIONS_MAX));
    m->v[m->n] = in;
    uint64_t key = vp_hash(in.name.p, in.name.n, 1);
    if (vp_map_get(&m->by_name, key) == VP_MAP_NONE)
        VP_TRY(vp_map_set(&m->by_name, key, (uint32_t)m->n));
    m->n++;
    return 0;
}

static int names_read_computation(hlo_module *m, vp_str bytes)
{
    computation c = {.id = -1, .root_id = -1, .first = m->n};
    vp_pb r = vp_pb_of(bytes);
    vp_pb_field f;
    int rc;
    while ((rc = vp_pb_next(&r, &f)) > 0) {
        if (f.number == HLO_COMPUTATION_INSTRUCTIONS && f.wire == VP_PB_LEN)
            VP_TRY(names_read_instruction(m, f.data));
        else if (f.number == HLO_COMPUTATION_ID && f.wire == VP_PB_VARINT)
            c.id = (int64_t)f.u;
        else if (f.number == HLO_COMPUTATION_ROOT_ID && f.wire == VP_PB_VARINT)
            c.root_id = (int64_t)f.u;
    }
    if (rc < 0)
        return vp_fail(VP_ECORRUPT, "damaged HLO computation");
    c.count = m->n - c.first;
    VP_TRY(vp_grow(&m->comps, &m->comp_cap, m->comp_n + 1, sizeof c, VP_HLO_INSTRUCTIONS_MAX));
    m->comps[m->comp_n] = c;
    return vp_map_set(&m->comp_by_id, (uint64_t)c.id, (uint32_t)m->comp_n++);
}

static int read_frames(hlo_module *m, vp_str bytes)
{
    vp_pb r = vp_pb_of(bytes);
    vp_pb_field f;
    while (vp_pb_next(&r, &f) > 0) {
        list *to = f.number == STACK_FRAME_INDEX_FILE_NAMES       ? &m->files
                   : f.number == STACK_FRAME_INDEX_FILE_LOCATIONS ? &m->locations
                                                                  : &m->frames;
        if (f.wire == VP_PB_LEN && (f.number == STACK_FRAME_INDEX_FILE_NAMES ||
                                    f.number == STACK_FRAME_INDEX_FILE_LOCATIONS ||
                                    f.number == STACK_FRAME_INDEX_STACK_FRAMES))
            VP_TRY(list_put(to, f.data));
    }
    return 0;
}

static int read_module(hlo_module *m, vp_str bytes)
{
    vp_pb r = vp_pb_of(bytes);
    vp_pb_field f;
    int rc;
    while ((rc = vp_pb_next(&r, &f)) > 0) {
        if (f.wire != VP_PB_LEN)
            continue;
        if (f.number == HLO_MODULE_NAME)
            m->name = f.data;
        else if (f.number == HLO_MODULE_COMPUTATIONS)
            VP_TRY(names_read_computation(m, f.data));
        else if (f.number == HLO_MODULE_DEVICE_ASSIGNMENT)
            m->assignment = f.data;
        else if (f.number == HLO_MODULE_STACK_FRAME_INDEX)
            VP_TRY(read_frames(m, f.data));
    }
    return rc < 0 ? vp_fail(VP_ECORRUPT, "damaged HLO module") : 0;
}

int hlo_module_parse(hlo_module **out, vp_str proto)
{
    hlo_module *m = vp_calloc(1, sizeof *m);
    vp_pb r = vp_pb_of(proto);
    vp_pb_field f;
    int rc = 0;
    VP_NEED(m);
    vp_arena_init(&m->arena);
    while (rc == 0 && vp_pb_next(&r, &f) > 0)
        if (f.number == HLO_HLO_MODULE && f.wire == VP_PB_LEN)
            rc = read_module(m, f.data);
    if (rc < 0) {
        hlo_module_free(m);
        return rc;
    }
    *out = m;
    return 0;
}

void hlo_module_free(hlo_module *m)
{
    if (!m)
        return;
    vp_free(m->v);
    vp_free(m->comps);
    vp_free(m->files.v);
    vp_free(m->locations.v);
    vp_free(m->frames.v);
    vp_map_free(&m->by_name);
    vp_map_free(&m->comp_by_id);
    vp_arena_free(&m->arena);
    vp_free(m);
}

int hlo_each_source_file(vp_str proto, int (*each)(void *ctx, vp_str path), void *ctx)
{
    /* Each level by its field; the last one has the paths. */
    static const uint32_t path_to_files[] = {HLO_HLO_MODULE, HLO_MODULE_STACK_FRAME_INDEX,
                                             STACK_FRAME_INDEX_FILE_NAMES};
    vp_pb level[3] = {vp_pb_of(proto)};
    vp_pb_field f;
    size_t depth = 1;
    while (depth) {
        if (vp_pb_next(&level[depth - 1], &f) <= 0)
            depth--;
        else if (f.number != path_to_files[depth - 1] || f.wire != VP_PB_LEN)
            continue;
        else if (depth < 3)
            level[depth++] = vp_pb_of(f.data);
        else
            VP_TRY(each(ctx, f.data));
    }
    return 0;
}

vp_str hlo_module_name(const hlo_module *m)
{
    return m->name;
}

static bool is_heavy(vp_str opcode)
{
    return vp_str_eq(opcode, VP_STR("dot")) || vp_str_eq(opcode, VP_STR("convolution")) ||
           vp_str_eq(opcode, VP_STR("reduce"));
}

/* The longest common prefix of two scopes, in whole components. */
static vp_str common_path(vp_str a, vp_str b)
{
    size_t n = 0, slash = 0;
    while (n < a.n && n < b.n && a.p[n] == b.p[n]) {
        if (a.p[n] == '/')
            slash = n;
        n++;
    }
    bool whole = (n == a.n || a.p[n] == '/') && (n == b.n || b.p[n] == '/');
    return vp_str_head(a, whole ? n : slash);
}

/* The scope of a fusion without one: that of its root; else that of its first dot, convolution or
 * reduce; else the common prefix of the scopes of all its instructions. */
static vp_str name_computation(const hlo_module *m, const computation *c)
{
    vp_str heavy = VP_STR_NONE, common = VP_STR_NONE;
    bool any = false;
    for (size_t k = c->first; k < c->first + c->count; k++) {
        const instruction *in = &m->v[k];
        if (!in->op_name.n)
            continue;
        if (in->id == c->root_id)
            return in->op_name;
        if (!heavy.n && is_heavy(in->opcode))
            heavy = in->op_name;
        common = any ? common_path(common, in->op_name) : in->op_name;
        any = true;
    }
    return heavy.n ? heavy : common;
}

/* The same by id. Each computation is examined once, however many instructions call it. */
static vp_str fused_name(hlo_module *m, int64_t computation_id)
{
    uint32_t i = vp_map_get(&m->comp_by_id, (uint64_t)computation_id);
    if (i == VP_MAP_NONE)
        return VP_STR_NONE;
    computation *c = &m->comps[i];
    if (!c->fused_known)
        c->fused = name_computation(m, c);
    c->fused_known = true;
    return c->fused;
}

static vp_str own_scope(hlo_module *m, const instruction *in)
{
    return in->op_name.n || in->calls < 0 ? in->op_name : fused_name(m, in->calls);
}

/* What XLA makes to change a layout or type, and matmuls that it rewrites without their path. */
static bool is_made_opcode(vp_str opcode)
{
    static const char *const opcodes[] = {"copy",    "copy-start", "copy-done",
                                          "bitcast", "transpose",  "reshape",
                                          "convert", "dot",        "convolution"};
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (vp_str_eq(opcode, vp_str_of(opcodes[i])))
            return true;
    return false;
}

/* True for such an instruction, and for a fusion of nothing else. */
static bool is_made_by_compiler(const hlo_module *m, const instruction *in)
{
    uint32_t at = in->calls < 0 ? VP_MAP_NONE : vp_map_get(&m->comp_by_id, (uint64_t)in->calls);
    if (!vp_str_eq(in->opcode, VP_STR("fusion")) || at == VP_MAP_NONE)
        return is_made_opcode(in->opcode);
    const computation *c = &m->comps[at];
    for (size_t k = c->first; k < c->first + c->count; k++)
        if (!is_made_opcode(m->v[k].opcode) && !vp_str_eq(m->v[k].opcode, VP_STR("parameter")))
            return false;
    return c->count > 0;
}

static void inherit_scope(hlo_module *m, const vp_map *by_id, const computation *c, uint64_t id,
                          vp_str scope)
{
    uint32_t i = vp_map_get(by_id, id);
    if (i != VP_MAP_NONE && i >= c->first && i < c->first + c->count)
        m->v[i].inherited = scope;
}

/* Gives the scope of an instruction, or the inherited one, to its operands. */
static void pass_scope_to_operands(hlo_module *m, const vp_map *by_id, const computation *c,
                                   const instruction *in)
{
    vp_str scope = own_scope(m, in);
    vp_pb r = vp_pb_of(in->bytes);
    vp_pb_field f;
    scope = scope.n ? scope : in->inherited;
    while (scope.n && vp_pb_next(&r, &f) > 0) {
        if (f.number != HLO_INSTRUCTION_OPERAND_IDS)
            continue;
        vp_pb ids = vp_pb_of(f.data);
        uint64_t id;
        if (f.wire == VP_PB_VARINT)
            inherit_scope(m, by_id, c, f.u, scope);
        while (f.wire == VP_PB_LEN && vp_pb_varint(&ids, &id))
            inherit_scope(m, by_id, c, id, scope);
    }
}

/* Operands stand before their users, so one pass from the end reaches chains of any length, and the
 * first user, which comes last, overrides others. */
static int inherit_scopes(hlo_module *m, computation *c)
{
    vp_map by_id;
    int rc = 0;
    if (c->inherited_known)
        return 0;
    c->inherited_known = true;
    vp_map_init(&by_id);
    for (size_t k = c->first; rc >= 0 && k < c->first + c->count; k++)
        rc = vp_map_set(&by_id, (uint64_t)m->v[k].id, (uint32_t)k);
    for (size_t k = c->first + c->count; rc >= 0 && k-- > c->first;)
        pass_scope_to_operands(m, &by_id, c, &m->v[k]);
    vp_map_free(&by_id);
    return rc;
}

static computation *computation_of(hlo_module *m, uint32_t at)
{
    size_t low = 0, high = m->comp_n; /* the last that begins at or before it */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (m->comps[mid].first <= at)
            low = mid + 1;
        else
            high = mid;
    }
    return &m->comps[low - 1];
}

static int put_array_type(vp_buf *b, vp_str shape)
{
    vp_pb r = vp_pb_of(shape);
    vp_pb_field f;
    const char *sep = "";
    vp_buf_printf(b, "%s[", hlo_type_name(last_varint_field(shape, SHAPE_ELEMENT_TYPE, 0)));
    while (vp_pb_next(&r, &f) > 0) {
        vp_pb dims;
        uint64_t d;
        if (f.number != SHAPE_DIMENSIONS || f.wire != VP_PB_LEN)
            continue;
        dims = vp_pb_of(f.data);
        for (; vp_pb_varint(&dims, &d); sep = ",")
            vp_buf_printf(b, "%s%lld", sep, (long long)d);
    }
    return vp_buf_putc(b, ']');
}

/* Nested tuples are named only, without their shape. */
static int shape_text(hlo_module *m, vp_str shape, vp_str *out)
{
    vp_buf b;
    vp_pb r = vp_pb_of(shape);
    vp_pb_field f;
    char sep = '(';
    vp_buf_init(&b, 4096);
    while (last_varint_field(shape, SHAPE_ELEMENT_TYPE, 0) == HLO_TYPE_TUPLE &&
           vp_pb_next(&r, &f) > 0)
        if (f.number == SHAPE_TUPLE_SHAPES && f.wire == VP_PB_LEN) {
            vp_buf_putc(&b, sep);
            put_array_type(&b, f.data);
            sep = ',';
        }
    int rc = sep == '(' ? put_array_type(&b, shape) : vp_buf_putc(&b, ')');
    char *copy = rc < 0 ? NULL : vp_arena_strndup(&m->arena, b.p, b.n);
    *out = (vp_str){copy, copy ? b.n : 0};
    vp_buf_free(&b);
    return copy || rc == VP_ELIMIT ? 0 : vp_no_memory();
}

/* "file.py:12" from the metadata itself, else through the module's stack frame index. */
static int source_text(hlo_module *m, const instruction *in, vp_str *out)
{
    vp_str file = in->source_file;
    int64_t line = in->source_line;
    if (!file.n && in->frame > 0 && (uint64_t)in->frame <= m->frames.n) {
        int64_t loc =
            last_varint_field(m->frames.v[in->frame - 1], STACK_FRAME_FILE_LOCATION_ID, 0);
        if (loc > 0 && (uint64_t)loc <= m->locations.n) {
            int64_t name =
                last_varint_field(m->locations.v[loc - 1], FILE_LOCATION_FILE_NAME_ID, 0);
            line = last_varint_field(m->locations.v[loc - 1], FILE_LOCATION_LINE, 0);
            if (name > 0 && (uint64_t)name <= m->files.n)
                file = m->files.v[name - 1];
        }
    }
    *out = VP_STR_NONE;
    if (!file.n || file.n > VP_PATH_MAX)
        return 0;
    char number[24];
    int n = snprintf(number, sizeof number, ":%lld", (long long)line);
    char *copy = vp_arena_alloc(&m->arena, file.n + (size_t)n);
    VP_NEED(copy);
    memcpy(copy, file.p, file.n);
    memcpy(copy + file.n, number, (size_t)n);
    *out = (vp_str){copy, file.n + (size_t)n};
    return 0;
}

/* The collective that an async start runs, which is the one instruction of the computation that it
 * calls. NULL: `in` is not an async start of a collective. */
static instruction *called_collective(const hlo_module *m, const instruction *in)
{
    uint32_t i = in->calls < 0 ? VP_MAP_NONE : vp_map_get(&m->comp_by_id, (uint64_t)in->calls);
    if (i == VP_MAP_NONE || !vp_str_starts(in->opcode, VP_STR("async-")))
        return NULL;
    const computation *c = &m->comps[i];
    for (size_t k = c->first; k < c->first + c->count; k++)
        if (m->v[k].group_size > 0)
            return &m->v[k];
    return NULL;
}

/* Converts a proto to text with `put`, in the module's arena; empty if it is too long. */
static int arena_text_of_proto(hlo_module *m, int (*put)(vp_buf *, vp_str), vp_str proto,
                               vp_str *out)
{
    vp_buf b;
    vp_buf_init(&b, VP_GROUP_TEXT_MAX);
    int rc = put(&b, proto);
    char *copy = rc == VP_ENOMEM ? NULL : vp_arena_strndup(&m->arena, b.p, rc < 0 ? 0 : b.n);
    *out = (vp_str){copy, copy && rc >= 0 ? b.n : 0};
    vp_buf_free(&b);
    return copy ? 0 : vp_no_memory();
}

/* Sets the groups of a collective and the devices of the module; each text is made once. */
static int group_texts(hlo_module *m, instruction *in, hlo_instruction *out)
{
    if (!in->groups.p)
        VP_TRY(arena_text_of_proto(m, hlo_put_groups, in->bytes, &in->groups));
    if (!m->program.p && m->assignment.n)
        VP_TRY(arena_text_of_proto(m, hlo_put_program, m->assignment, &m->program));
    out->groups = in->groups;
    out->program = m->program;
    return 0;
}

int hlo_module_find(hlo_module *m, vp_str name, hlo_instruction *out)
{
    uint32_t i = vp_map_get(&m->by_name, vp_hash(name.p, name.n, 1));
    if (i == VP_MAP_NONE || !vp_str_eq(m->v[i].name, name))
        return 0;
    instruction *in = &m->v[i];
    instruction *collective = in->group_size > 0 ? in : called_collective(m, in);
    *out = (hlo_instruction){.group_size = collective ? collective->group_size : -1};
    if (collective)
        VP_TRY(group_texts(m, collective, out));
    out->op_name = own_scope(m, in);
    if (!out->op_name.n && is_made_by_compiler(m, in)) {
        VP_TRY(inherit_scopes(m, computation_of(m, i)));
        out->op_name = in->inherited;
    }
    out->opcode = in->opcode;
    VP_TRY(source_text(m, in, &out->source));
    VP_TRY(shape_text(m, in->shape, &out->shape));
    return 1;
}
