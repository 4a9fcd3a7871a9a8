#include "trace/read/hlo/hlo_print.h"

#include "trace/read/hlo/hlo_numbers.h"
#include "trace/read/hlo/hlo_shape.h"

#define NAME_MAX_BYTES 300u
#define CONFIG_MAX 400u
#define LINKS_MAX 64u
#define SHAPE_MAX 4096u

/* Formats of attributes, and the fields of message attributes (xla_data.proto). */
enum { AS_NUMBER, AS_COUNT, AS_LIST, AS_WORD, AS_QUOTED, AS_SLICES, AS_WINDOW, AS_LABELS, AS_DOT };
enum { SLICE_START = 1, SLICE_LIMIT = 2, SLICE_STRIDE = 3 };
enum { WINDOW_DIMENSIONS = 1 };

typedef struct attribute {
    uint8_t field, as;
    const char *name;
} attribute;

/* Fields of an InstructionProto; of a DotDimensionNumbers. */
static const attribute attributes[] = {{14, AS_LIST, "dimensions"},
                                       {15, AS_WINDOW, "window"},
                                       {16, AS_LABELS, "dim_labels"},
                                       {17, AS_SLICES, "slice"},
                                       {20, AS_LIST, "dynamic_slice_sizes"},
                                       {26, AS_NUMBER, "channel_id"},
                                       {30, AS_DOT, ""},
                                       {11, AS_WORD, "kind"},
                                       {28, AS_QUOTED, "custom_call_target"},
                                       {50, AS_COUNT, "feature_group_count"},
                                       {58, AS_COUNT, "batch_group_count"},
                                       {0}},
                       of_dot[] = {{1, AS_LIST, "lhs_contracting_dims"},
                                   {2, AS_LIST, "rhs_contracting_dims"},
                                   {3, AS_LIST, "lhs_batch_dims"},
                                   {4, AS_LIST, "rhs_batch_dims"},
                                   {0}};

static void put_text_cut_at(vp_buf *b, vp_str s, size_t most)
{
    vp_buf_str(b, vp_str_head(s, most));
    vp_buf_puts(b, s.n > most ? "..." : "");
}

static int64_t hlo_number_field(vp_str message, uint32_t field)
{
    hlo_numbers l;
    hlo_numbers_of(&l, message, field);
    return l.n ? l.v[0] : 0;
}

static void put_slice_bounds(vp_buf *b, vp_str s)
{
    vp_buf_printf(b, "[%lld:%lld", (long long)hlo_number_field(s, SLICE_START),
                  (long long)hlo_number_field(s, SLICE_LIMIT));
    if (hlo_number_field(s, SLICE_STRIDE) > 1)
        vp_buf_printf(b, ":%lld", (long long)hlo_number_field(s, SLICE_STRIDE));
    vp_buf_putc(b, ']');
}

/* Appends one number for every dimension: "3x3", or of two fields "1_1x1_1". True if any differs
 * from `usual`. */
static bool put_sides(vp_buf *b, vp_str window, uint8_t field, bool pair, int64_t usual)
{
    vp_pb r = vp_pb_of(window);
    vp_pb_field f;
    bool unusual = false;
    for (size_t n = 0; n < HLO_NUMBERS_MAX && vp_pb_next(&r, &f) > 0;) {
        if (f.number != WINDOW_DIMENSIONS || f.wire != VP_PB_LEN)
            continue;
        int64_t v = hlo_number_field(f.data, field),
                high = pair ? hlo_number_field(f.data, field + 1) : usual;
        vp_buf_printf(b, n++ ? "x%lld" : "%lld", (long long)v);
        if (pair)
            vp_buf_printf(b, "_%lld", (long long)high);
        unusual |= v != usual || high != usual;
    }
    return unusual;
}

static void put_window_attr(vp_buf *b, vp_str window)
{
    static const struct {
        uint8_t field, usual;
        char name[14];
    } parts[] = {{1, 0, "{size="},
                 {2, 1, " stride="},
                 {3, 0, " pad="},
                 {5, 1, " rhs_dilate="},
                 {6, 1, " lhs_dilate="}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        vp_buf part;
        vp_buf_init(&part, SHAPE_MAX);
        vp_buf_puts(&part, parts[i].name);
        if (put_sides(&part, window, parts[i].field, parts[i].field == 3, parts[i].usual) || !i)
            vp_buf_str(b, vp_buf_view(&part));
        vp_buf_free_piece(b, &part);
    }
    vp_buf_putc(b, '}');
}

/* "b01f_01io->b01f": the role of each dimension of the input, the kernel and the output. */
static void put_dimension_labels(vp_buf *b, vp_str message)
{
    static const struct {
        uint8_t field, of;
        char letter; /* 0: spatial dimensions, which are numbered */
    } parts[] = {{7, 0, 'b'}, {8, 0, 'f'}, {11, 0, 0},   {3, 1, 'i'}, {4, 1, 'o'},
                 {6, 1, 0},   {9, 2, 'b'}, {10, 2, 'f'}, {12, 2, 0}};
    char label[3][HLO_NUMBERS_MAX + 1] = {{0}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        hlo_numbers l;
        hlo_numbers_of(&l, message, parts[i].field);
        if (parts[i].letter && !l.n)
            hlo_add_number(&l, 0); /* proto3 omits zeros */
        for (size_t k = 0; k < l.n; k++)
            if (l.v[k] >= 0 && l.v[k] < (int64_t)HLO_NUMBERS_MAX)
                label[parts[i].of][l.v[k]] =
                    (char)(parts[i].letter ? parts[i].letter : '0' + (int)(k % 10));
    }
    vp_buf_printf(b, "%s_%s->%s", label[0], label[1], label[2]);
}

static void put_number_attr(vp_buf *b, vp_str message, const attribute *a)
{
    hlo_numbers l;
    hlo_numbers_of(&l, message, a->field);
    if (!l.n || (a->as == AS_COUNT && l.v[0] <= 1))
        return;
    vp_buf_printf(b, a->as == AS_LIST ? ", %s={" : ", %s=", a->name);
    for (size_t i = 0; i < l.n; i++)
        vp_buf_printf(b, i ? ",%lld" : "%lld", (long long)l.v[i]);
    vp_buf_puts(b, a->as != AS_LIST ? "" : l.beyond ? ",...}" : "}");
}

/* Appends an attribute that is a text or a message. */
static void put_message_attr(vp_buf *b, const attribute *a, vp_str v, size_t i)
{
    if (a->as == AS_DOT) {
        for (const attribute *d = of_dot; d->field; d++)
            put_number_attr(b, v, d);
        return;
    }
    if (i)
        vp_buf_putc(b, ',');
    else
        vp_buf_printf(b, a->as == AS_SLICES ? ", %s={" : ", %s=", a->name);
    if (a->as == AS_SLICES)
        put_slice_bounds(b, v);
    else if (a->as == AS_WINDOW)
        put_window_attr(b, v);
    else if (a->as == AS_LABELS)
        put_dimension_labels(b, v);
    else {
        vp_buf_puts(b, a->as == AS_QUOTED ? "\"" : "");
        put_text_cut_at(b, v, NAME_MAX_BYTES);
        vp_buf_puts(b, a->as == AS_QUOTED ? "\"" : "");
    }
}

static void put_attribute(vp_buf *b, vp_str raw, const attribute *a)
{
    vp_pb r = vp_pb_of(raw);
    vp_pb_field f;
    size_t n = 0;
    if (a->as <= AS_LIST) {
        put_number_attr(b, raw, a);
        return;
    }
    while (vp_pb_next(&r, &f) > 0 && n < HLO_NUMBERS_MAX)
        if (f.number == a->field && f.wire == VP_PB_LEN && f.data.n)
            put_message_attr(b, a, f.data, n++);
    if (n && a->as == AS_SLICES)
        vp_buf_putc(b, '}');
}

static void put_called(vp_buf *b, const hlo_program *p, const hlo_instr *in)
{
    bool loop = vp_str_eq(in->opcode, VP_STR("while"));
    bool part =
        vp_str_eq(in->opcode, VP_STR("fusion")) || vp_str_ends(in->opcode, VP_STR("-start"));
    for (uint32_t i = 0; i < in->called_count && i < LINKS_MAX; i++) {
        uint32_t c = p->links[in->called + i];
        vp_buf_puts(b, loop && i == 0   ? ", body=%"
                       : loop && i == 1 ? ", condition=%"
                       : i              ? ", %"
                       : part           ? ", calls=%"
                                        : ", to_apply=%");
        put_text_cut_at(b, c == HLO_NONE ? VP_STR("?") : p->computations[c].name, NAME_MAX_BYTES);
    }
}

static void put_operands(vp_buf *b, const hlo_program *p, const hlo_instr *in)
{
    vp_buf_putc(b, '(');
    if (in->parameter_number >= 0)
        vp_buf_i64(b, in->parameter_number);
    for (uint32_t i = 0; i < in->operand_count && i < LINKS_MAX; i++) {
        uint32_t at = p->links[in->operands + i];
        vp_buf_puts(b, i ? ", %" : "%");
        put_text_cut_at(b, at == HLO_NONE ? VP_STR("?") : p->instrs[at].name, NAME_MAX_BYTES);
    }
    if (in->operand_count > LINKS_MAX)
        vp_buf_printf(b, ", ... %u more", in->operand_count - LINKS_MAX);
    vp_buf_putc(b, ')');
    if (in->tuple_index >= 0)
        vp_buf_printf(b, ", index=%lld", (long long)in->tuple_index);
}

static void put_op_metadata(vp_buf *b, const hlo_instr *in)
{
    if (in->op_name.n || in->source_file.n) {
        vp_buf_puts(b, ", metadata={op_name=\"");
        put_text_cut_at(b, in->op_name, 2 * NAME_MAX_BYTES);
        vp_buf_putc(b, '"');
        if (in->source_file.n) {
            vp_buf_puts(b, " source_file=\"");
            put_text_cut_at(b, in->source_file, NAME_MAX_BYTES);
            vp_buf_printf(b, "\" source_line=%d", (int)in->source_line);
        }
        vp_buf_putc(b, '}');
    }
    if (in->backend_config.n && *in->backend_config.p == '{') {
        vp_buf_puts(b, ", backend_config=");
        put_text_cut_at(b, in->backend_config, CONFIG_MAX);
    }
}

int hlo_put_brief_shape(vp_buf *b, const hlo_program *p, uint32_t shape)
{
    vp_buf s;
    if (shape == HLO_NONE)
        return vp_buf_putc(b, '?');
    vp_buf_init(&s, SHAPE_MAX);
    if (hlo_put_shape(&s, p, shape) < 0)
        vp_buf_puts(b, "(...)");
    else
        vp_buf_str(b, vp_buf_view(&s));
    vp_buf_free(&s);
    return b->status;
}

int hlo_put_instruction(vp_buf *b, const hlo_program *p, uint32_t instruction)
{
    const hlo_instr *in = &p->instrs[instruction];
    vp_buf_putc(b, '%');
    put_text_cut_at(b, in->name, NAME_MAX_BYTES);
    vp_buf_puts(b, " = ");
    hlo_put_brief_shape(b, p, in->shape);
    vp_buf_putc(b, ' ');
    put_text_cut_at(b, in->opcode, NAME_MAX_BYTES);
    put_operands(b, p, in);
    for (const attribute *a = attributes; a->field; a++)
        put_attribute(b, in->raw, a);
    put_called(b, p, in);
    put_op_metadata(b, in);
    return b->status;
}
