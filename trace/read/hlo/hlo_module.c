/* Reads computations, instructions, and other data of the module: the schedule, aliases, donors,
 * stack frames. Ids are resolved after all instructions are known. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/hlo/hlo_reader.h"
#include "trace/read/semantics/hlo_fields.h"

#define IN(member) offsetof(hlo_instr, member)

/* From OpMetadata; the frame is stored as the line until frames are known. */
static int hlo_read_metadata(hlo_instr *in, vp_str bytes)
{
    struct metadata {
        vp_str op_name, file;
        int32_t line, frame;
    } m = {.line = 0};
    static const hlo_field fields[] = {
        {OP_METADATA_OP_NAME, HLO_AS_TEXT, offsetof(struct metadata, op_name)},
        {OP_METADATA_SOURCE_FILE, HLO_AS_TEXT, offsetof(struct metadata, file)},
        {OP_METADATA_SOURCE_LINE, HLO_AS_INT, offsetof(struct metadata, line)},
        {OP_METADATA_STACK_FRAME_ID, HLO_AS_INT, offsetof(struct metadata, frame)},
        {0}};
    VP_TRY(hlo_take(&m, bytes, fields, "the metadata of an instruction"));
    in->op_name = m.op_name;
    in->source_file = m.file;
    in->source_line = m.file.n ? m.line : m.frame;
    return 0;
}

typedef struct instr_row {
    hlo_instr in;
    vp_str shape, metadata;
} instr_row;

static int hlo_read_instruction(hlo_reader *r, vp_str bytes)
{
    static const hlo_field fields[] = {
        {HLO_INSTRUCTION_NAME, HLO_AS_TEXT, IN(name)},
        {HLO_INSTRUCTION_OPCODE, HLO_AS_TEXT, IN(opcode)},
        {HLO_INSTRUCTION_SHAPE, HLO_AS_TEXT, offsetof(instr_row, shape)},
        {HLO_INSTRUCTION_METADATA, HLO_AS_TEXT, offsetof(instr_row, metadata)},
        {HLO_INSTRUCTION_PARAMETER_NUMBER, HLO_AS_NUMBER, IN(parameter_number)},
        {HLO_INSTRUCTION_TUPLE_INDEX, HLO_AS_NUMBER, IN(tuple_index)},
        {HLO_INSTRUCTION_CUSTOM_CALL_TARGET, HLO_AS_TEXT, IN(custom_call_target)},
        {HLO_INSTRUCTION_ID, HLO_AS_NUMBER, IN(id)},
        {HLO_INSTRUCTION_BACKEND_CONFIG, HLO_AS_TEXT, IN(backend_config)},
        {0}};
    instr_row row = {.in = {.shape = HLO_NONE,
                            .parameter_number = -1,
                            .tuple_index = -1,
                            .computation = (uint32_t)r->p->computation_count,
                            .raw = bytes}};
    hlo_span operands, called;
    hlo_instr *in = &row.in;
    VP_TRY(hlo_take(&row, bytes, fields, "an instruction"));
    VP_TRY(hlo_read_metadata(in, row.metadata));
    VP_TRY(hlo_take_ids(r, bytes, HLO_INSTRUCTION_OPERAND_IDS, &operands));
    VP_TRY(hlo_take_ids(r, bytes, HLO_INSTRUCTION_CALLED_COMPUTATION_IDS, &called));
    if (row.shape.p)
        VP_TRY(hlo_read_shape(r, row.shape, &in->shape));
    if (in->parameter_number < 0 && vp_str_eq(in->opcode, VP_STR("parameter")))
        in->parameter_number = 0;
    if (in->tuple_index < 0 && vp_str_eq(in->opcode, VP_STR("get-tuple-element")))
        in->tuple_index = 0;
    in->operands = operands.first;
    in->operand_count = operands.count;
    in->called = called.first;
    in->called_count = called.count;
    VP_TRY(HLO_GROW(r, instrs, instr));
    uint32_t at = (uint32_t)r->p->instr_count++;
    r->p->instrs[at] = *in;
    uint64_t key = vp_hash(in->name.p, in->name.n, 1);
    if (vp_map_get(&r->p->by_name, key) == VP_MAP_NONE)
        VP_TRY(vp_map_set(&r->p->by_name, key, at));
    return vp_map_set(&r->p->by_id, (uint64_t)in->id, at);
}

typedef struct computation_row {
    hlo_computation c;
    int64_t root;
} computation_row;

static int hlo_read_computation(hlo_reader *r, vp_str bytes)
{
    static const hlo_field fields[] = {
        {HLO_COMPUTATION_NAME, HLO_AS_TEXT, offsetof(hlo_computation, name)},
        {HLO_COMPUTATION_ID, HLO_AS_NUMBER, offsetof(hlo_computation, id)},
        {HLO_COMPUTATION_ROOT_ID, HLO_AS_NUMBER, offsetof(computation_row, root)},
        {HLO_COMPUTATION_IS_FUSION_COMPUTATION, HLO_AS_BOOL, offsetof(hlo_computation, fusion)},
        {0}};
    computation_row row = {.c = {.first = (uint32_t)r->p->instr_count, .root = HLO_NONE}};
    size_t n = r->p->computation_count;
    VP_TRY(hlo_take(&row, bytes, fields, "a computation"));
    VP_TRY(hlo_each(r, bytes, HLO_COMPUTATION_INSTRUCTIONS, hlo_read_instruction));
    row.c.count = (uint32_t)r->p->instr_count - row.c.first;
    VP_TRY(HLO_GROW(r, computations, computation));
    VP_TRY(
        vp_grow(&r->root_ids, &r->root_ids_cap, n + 1, sizeof row.root, VP_HLO_INSTRUCTIONS_MAX));
    r->p->computations[n] = row.c;
    r->root_ids[n] = row.root;
    r->p->computation_count++;
    return vp_map_set(&r->computation_by_id, (uint64_t)row.c.id, (uint32_t)n);
}

/* --- stack frames: ids count from 1, 0 is none --- */

typedef struct frame_index {
    vp_str *files;
    vp_str *functions;
    int32_t (*places)[3]; /* file, line, function */
    int32_t *frames;      /* place */
    size_t file_count, function_count, place_count, frame_count;
    size_t file_cap, function_cap, place_cap, frame_cap;
} frame_index;

static int32_t int_of(vp_str message, uint8_t field)
{
    int32_t v = 0;
    const hlo_field fields[] = {{field, HLO_AS_INT, 0}, {0}};
    return hlo_take(&v, message, fields, "a stack frame") < 0 ? 0 : v;
}

static int put_frame_row(frame_index *x, const vp_pb_field *f)
{
    if (f->wire != VP_PB_LEN)
        return 0;
    if (f->number == STACK_FRAME_INDEX_FILE_NAMES) {
        VP_TRY(vp_grow(&x->files, &x->file_cap, x->file_count + 1, sizeof *x->files,
                       VP_HLO_INSTRUCTIONS_MAX));
        x->files[x->file_count++] = f->data;
    } else if (f->number == STACK_FRAME_INDEX_FUNCTION_NAMES) {
        VP_TRY(vp_grow(&x->functions, &x->function_cap, x->function_count + 1, sizeof *x->functions,
                       VP_HLO_INSTRUCTIONS_MAX));
        x->functions[x->function_count++] = f->data;
    } else if (f->number == STACK_FRAME_INDEX_FILE_LOCATIONS) {
        VP_TRY(vp_grow(&x->places, &x->place_cap, x->place_count + 1, sizeof *x->places,
                       VP_HLO_INSTRUCTIONS_MAX));
        x->places[x->place_count][0] = int_of(f->data, FILE_LOCATION_FILE_NAME_ID);
        x->places[x->place_count][1] = int_of(f->data, FILE_LOCATION_LINE);
        x->places[x->place_count++][2] = int_of(f->data, FILE_LOCATION_FUNCTION_NAME_ID);
    } else if (f->number == STACK_FRAME_INDEX_STACK_FRAMES) {
        VP_TRY(vp_grow(&x->frames, &x->frame_cap, x->frame_count + 1, sizeof *x->frames,
                       VP_HLO_INSTRUCTIONS_MAX));
        x->frames[x->frame_count++] = int_of(f->data, STACK_FRAME_FILE_LOCATION_ID);
    }
    return 0;
}

/* Index for an id that counts from 1; SIZE_MAX: none. */
static size_t row_of_frame_id(int32_t id, size_t count)
{
    return id > 0 && (size_t)id <= count ? (size_t)id - 1 : SIZE_MAX;
}

static void resolve_source(hlo_instr *in, const frame_index *x)
{
    size_t frame = row_of_frame_id(in->source_line, x->frame_count);
    size_t place = frame == SIZE_MAX ? frame : row_of_frame_id(x->frames[frame], x->place_count);
    size_t file = place == SIZE_MAX ? place : row_of_frame_id(x->places[place][0], x->file_count);
    size_t function =
        place == SIZE_MAX ? place : row_of_frame_id(x->places[place][2], x->function_count);
    in->source_function = function == SIZE_MAX ? VP_STR_NONE : x->functions[function];
    in->source_line = file == SIZE_MAX ? 0 : x->places[place][1];
    in->source_file = file == SIZE_MAX ? VP_STR_NONE : x->files[file];
}

static int read_sources(hlo_reader *r, vp_str index)
{
    frame_index x = {0};
    vp_pb in = vp_pb_of(index);
    vp_pb_field f;
    int rc = 0;
    while (rc >= 0 && vp_pb_next(&in, &f) > 0)
        rc = put_frame_row(&x, &f);
    for (size_t i = 0; rc >= 0 && i < r->p->instr_count; i++)
        if (!r->p->instrs[i].source_file.n)
            resolve_source(&r->p->instrs[i], &x);
    vp_free(x.files);
    vp_free(x.functions);
    vp_free(x.places);
    vp_free(x.frames);
    return rc;
}

/* --- resolution of ids --- */

static void resolve_instruction_ids(hlo_reader *r, uint32_t first, uint32_t count,
                                    const vp_map *map)
{
    for (uint32_t i = first; i < first + count; i++) {
        r->p->links[i] = vp_map_get(map, (uint64_t)r->ids[i]);
        r->p->loose += r->p->links[i] == HLO_NONE;
    }
}

static int read_sequence(hlo_reader *r, vp_str entry)
{
    struct pair {
        int64_t key;
        vp_str value;
    } e = {0};
    static const hlo_field fields[] = {{MAP_ENTRY_KEY, HLO_AS_NUMBER, offsetof(struct pair, key)},
                                       {MAP_ENTRY_VALUE, HLO_AS_TEXT, offsetof(struct pair, value)},
                                       {0}};
    hlo_span order;
    VP_TRY(hlo_take(&e, entry, fields, "a schedule"));
    VP_TRY(hlo_take_ids(r, e.value, INSTRUCTION_SEQUENCE_INSTRUCTION_IDS, &order));
    resolve_instruction_ids(r, order.first, order.count, &r->p->by_id);
    uint32_t c = vp_map_get(&r->computation_by_id, (uint64_t)e.key);
    if (c == HLO_NONE) {
        r->p->loose++;
        return 0;
    }
    r->p->computations[c].order = order.first;
    r->p->computations[c].order_count = order.count;
    return 0;
}

static int put_alias(hlo_reader *r, hlo_alias a, vp_str entry, uint32_t place_field)
{
    hlo_span place;
    VP_TRY(hlo_take_numbers(r, entry, place_field, &place));
    a.place = place.first;
    a.place_count = place.count;
    VP_TRY(HLO_GROW(r, aliases, alias));
    r->p->aliases[r->p->alias_count++] = a;
    return 0;
}

static int read_alias(hlo_reader *r, vp_str entry)
{
    static const hlo_field fields[] = {
        {ALIAS_ENTRY_PARAMETER_NUMBER, HLO_AS_NUMBER, offsetof(hlo_alias, parameter_number)}, {0}};
    hlo_alias a = {.output = true};
    hlo_span place;
    VP_TRY(hlo_take(&a, entry, fields, "an alias"));
    VP_TRY(hlo_take_numbers(r, entry, ALIAS_ENTRY_OUTPUT_SHAPE_INDEX, &place));
    a.output_place = place.first;
    a.output_place_count = place.count;
    return put_alias(r, a, entry, ALIAS_ENTRY_PARAMETER_SHAPE_INDEX);
}

static int read_donor(hlo_reader *r, vp_str entry)
{
    static const hlo_field fields[] = {
        {DONOR_ENTRY_PARAMETER_NUMBER, HLO_AS_NUMBER, offsetof(hlo_alias, parameter_number)}, {0}};
    hlo_alias a = {0};
    VP_TRY(hlo_take(&a, entry, fields, "a donor"));
    return put_alias(r, a, entry, DONOR_ENTRY_PARAMETER_SHAPE_INDEX);
}

typedef struct module_row {
    vp_str name, entry_name, schedule, aliases, frames, donors;
    int64_t id, entry;
} module_row;

static void choose_entry(hlo_reader *r, const module_row *m)
{
    hlo_program *p = r->p;
    p->entry = vp_map_get(&r->computation_by_id, (uint64_t)m->entry);
    for (size_t c = 0; p->entry == HLO_NONE && c < p->computation_count; c++)
        if (m->entry_name.n && vp_str_eq(p->computations[c].name, m->entry_name))
            p->entry = (uint32_t)c;
}

int hlo_read_module(hlo_reader *r, vp_str proto)
{
    static const hlo_field fields[] = {
        {HLO_MODULE_NAME, HLO_AS_TEXT, offsetof(module_row, name)},
        {HLO_MODULE_ENTRY_COMPUTATION_NAME, HLO_AS_TEXT, offsetof(module_row, entry_name)},
        {HLO_MODULE_ID, HLO_AS_NUMBER, offsetof(module_row, id)},
        {HLO_MODULE_ENTRY_COMPUTATION_ID, HLO_AS_NUMBER, offsetof(module_row, entry)},
        {HLO_MODULE_SCHEDULE, HLO_AS_TEXT, offsetof(module_row, schedule)},
        {HLO_MODULE_INPUT_OUTPUT_ALIAS, HLO_AS_TEXT, offsetof(module_row, aliases)},
        {HLO_MODULE_STACK_FRAME_INDEX, HLO_AS_TEXT, offsetof(module_row, frames)},
        {HLO_MODULE_BUFFER_DONOR, HLO_AS_TEXT, offsetof(module_row, donors)},
        {0}};
    module_row m = {0};
    hlo_program *p = r->p;
    VP_TRY(hlo_take(&m, proto, fields, "the module"));
    p->name = m.name;
    p->id = m.id;
    VP_TRY(hlo_each(r, proto, HLO_MODULE_COMPUTATIONS, hlo_read_computation));
    for (size_t i = 0; i < p->instr_count; i++) {
        const hlo_instr *in = &p->instrs[i];
        resolve_instruction_ids(r, in->operands, in->operand_count, &p->by_id);
        resolve_instruction_ids(r, in->called, in->called_count, &r->computation_by_id);
    }
    for (size_t c = 0; c < p->computation_count; c++)
        p->computations[c].root = vp_map_get(&p->by_id, (uint64_t)r->root_ids[c]);
    choose_entry(r, &m);
    VP_TRY(read_sources(r, m.frames));
    VP_TRY(hlo_each(r, m.schedule, HLO_SCHEDULE_SEQUENCES, read_sequence));
    VP_TRY(hlo_each(r, m.aliases, INPUT_OUTPUT_ALIAS_ENTRIES, read_alias));
    return hlo_each(r, m.donors, BUFFER_DONOR_ENTRIES, read_donor);
}
