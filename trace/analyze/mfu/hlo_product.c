#include "trace/analyze/mfu/hlo_product.h"

#include "include/view_profile.h"
#include "trace/read/hlo/hlo_numbers.h"
#include "trace/read/hlo/hlo_shape.h"

#define RANK_MAX HLO_NUMBERS_MAX

/* Fields of InstructionProto that hlo_program.h keeps in `raw`. */
enum {
    WINDOW = 15,
    CONVOLUTION = 16,
    DOT = 30,
    FEATURE_GROUPS = 50,
    PRECISION = 51,
    BATCH_GROUPS = 58
};
enum { DOT_LHS_CONTRACTING = 1, DOT_LHS_BATCH = 3, WINDOW_DIMENSIONS = 1 };
enum { OPERAND_PRECISION = 1, ALGORITHM = 2 };

static const hlo_shape *shape_at(const hlo_program *p, uint32_t shape)
{
    const hlo_shape *s = shape == HLO_NONE ? NULL : &p->shapes[shape];
    if (s && s->leaf_count)
        s = &p->shapes[s->leaves];
    return s && !s->leaf_count && s->rank <= RANK_MAX ? s : NULL;
}

static const hlo_shape *operand_shape(const hlo_program *p, const hlo_instr *in, uint32_t i)
{
    const hlo_instr *x = hlo_operand(p, in, i);
    return x ? shape_at(p, x->shape) : NULL;
}

static int64_t shape_dim(const hlo_program *p, const hlo_shape *s, int64_t i)
{
    return i >= 0 && i < s->rank ? p->numbers[s->dims + (uint32_t)i] : -1;
}

/* *v times a dimension; false: it is negative, or the product does not fit. */
static bool multiply_by_dim(int64_t *v, int64_t by)
{
    return by >= 0 && !__builtin_mul_overflow(*v, by, v);
}

static uint8_t dtype_of(const hlo_shape *s)
{
    switch (s->type) {
    case 2:
    case 6:
        return VP_DTYPE_I8;
    case 10:
        return VP_DTYPE_F16;
    case 11:
        return VP_DTYPE_F32;
    case 12:
        return VP_DTYPE_F64;
    case 16:
        return VP_DTYPE_BF16;
    default: /* f8e5m2, f8e4m3fn, …b11fnuz, f8e5m2fnuz, f8e4m3fnuz; f8e4m3, f8e3m4 */
        return (s->type >= 19 && s->type <= 25 && s->type != 21 && s->type != 22) ||
                       s->type == 28 || s->type == 29
                   ? VP_DTYPE_F8
                   : VP_DTYPE_UNKNOWN;
    }
}

/* Digits between the brackets after a key of JSON: ["1","2"]. */
static void numbers_behind(hlo_numbers *out, vp_str json, vp_str key)
{
    size_t at = vp_str_find(json, key);
    vp_str rest = vp_str_skip(json, at < json.n ? at + key.n : json.n);
    uint64_t v;
    while (rest.n && *rest.p != ']') {
        if (vp_take_uint(&rest, INT64_MAX, &v))
            hlo_add_number(out, v);
        else
            rest = vp_str_skip(rest, 1);
    }
}

/* The product of some dimensions of an array; -1: one does not exist, or it overflows. */
static int64_t extent_of_dims(const hlo_program *p, const hlo_shape *s, const hlo_numbers *which)
{
    int64_t all = 1;
    for (size_t i = 0; i < which->n; i++)
        if (!multiply_by_dim(&all, shape_dim(p, s, which->v[i])))
            return -1;
    return all;
}

static int64_t extent_of_all(const hlo_program *p, const hlo_shape *s)
{
    int64_t all = 1;
    for (uint32_t i = 0; i < s->rank; i++)
        if (!multiply_by_dim(&all, shape_dim(p, s, i)))
            return -1;
    return all;
}

/* 2 x result x the contracted dimensions. */
static bool set_product(hlo_product *out, const hlo_program *p, const hlo_instr *in,
                        const hlo_numbers *summed, const hlo_numbers *batch)
{
    const hlo_shape *a = operand_shape(p, in, 0), *r = shape_at(p, in->shape);
    if (!a || !r || !summed->n || summed->beyond)
        return false;
    const int64_t result = extent_of_all(p, r), k = extent_of_dims(p, a, summed);
    const int64_t each = batch->beyond ? -1 : extent_of_dims(p, a, batch),
                  left = extent_of_all(p, a);
    out->flops = 2;
    out->dtype = dtype_of(a);
    if (!multiply_by_dim(&out->flops, result) || !multiply_by_dim(&out->flops, k))
        return false;
    if (each > 0 && k > 0 && left > 0 && left / each / k > 0) {
        int64_t m = left / each / k;
        out->shape = (product_shape){m, result / each / m, k, each};
    }
    return true;
}

/* The last message in a field; empty: none. */
static vp_str message_in(vp_str raw, uint32_t field)
{
    vp_pb r = vp_pb_of(raw);
    vp_pb_field f;
    vp_str last = VP_STR_NONE;
    while (vp_pb_next(&r, &f) > 0)
        if (f.number == field && f.wire == VP_PB_LEN)
            last = f.data;
    return last;
}

/* PrecisionConfig: an algorithm by its number, else the higher of the operands' precisions. */
static uint8_t passes_of(const hlo_instr *in)
{
    static const uint8_t of_precision[] = {1, 3, 6};
    static const uint8_t of_algorithm[] = {[7] = 3, [8] = 6, [11] = 6, [13] = 9};
    vp_str config = message_in(in->raw, PRECISION);
    hlo_numbers algorithm, asked;
    uint8_t passes = 1;
    hlo_numbers_of(&algorithm, config, ALGORITHM);
    hlo_numbers_of(&asked, config, OPERAND_PRECISION);
    size_t a = algorithm.n ? (size_t)algorithm.v[0] : 0;
    if (a < sizeof of_algorithm && of_algorithm[a])
        return of_algorithm[a];
    for (size_t i = 0; i < asked.n; i++) {
        size_t v = (size_t)asked.v[i];
        if (v < sizeof of_precision && of_precision[v] > passes)
            passes = of_precision[v];
    }
    return passes;
}

static bool dot_product(hlo_product *out, const hlo_program *p, const hlo_instr *in)
{
    hlo_numbers summed, batch;
    vp_str numbers = message_in(in->raw, DOT);
    hlo_numbers_of(&summed, numbers, DOT_LHS_CONTRACTING);
    hlo_numbers_of(&batch, numbers, DOT_LHS_BATCH);
    return set_product(out, p, in, &summed, &batch);
}

static bool library_gemm(hlo_product *out, const hlo_program *p, const hlo_instr *in)
{
    hlo_numbers summed = {.n = 0}, batch = {.n = 0};
    numbers_behind(&summed, in->backend_config, VP_STR("lhs_contracting_dimensions"));
    numbers_behind(&batch, in->backend_config, VP_STR("lhs_batch_dimensions"));
    return set_product(out, p, in, &summed, &batch);
}

/* ---- Attention ---- */

static vp_str json_text_behind_key(vp_str json, vp_str key)
{
    size_t at = vp_str_find(json, key);
    return vp_str_skip(json, at < json.n ? at + key.n : json.n);
}

static bool json_text_contains(vp_str text, vp_str part)
{
    return vp_str_find(text, part) < text.n;
}

/* True if a key's value is a number above 0. */
static bool is_positive(vp_str json, vp_str key)
{
    hlo_numbers v = {.n = 0};
    vp_str rest = json_text_behind_key(json, key);
    size_t at = 0;
    while (at < rest.n && rest.p[at] != ',' && rest.p[at] != '}')
        at++;
    numbers_behind(&v, vp_str_head(rest, at), VP_STR(":"));
    return v.n && v.v[0] > 0;
}

/* The factor of each score: D + Dv forward, 3 D + 2 Dv backward, where the scores are recomputed;
 * -1: unknown from the shapes. D and Dv: the widths of a query and of a value. */
static int64_t score_width(const hlo_program *p, const hlo_instr *in)
{
    const hlo_shape *q = operand_shape(p, in, 0), *v = operand_shape(p, in, 2);
    bool back = json_text_contains(in->custom_call_target, VP_STR("Backward"));
    if (!q || !v || q->rank != 4 || v->rank != 4)
        return -1;
    int64_t width, d = shape_dim(p, q, 3), dv = shape_dim(p, v, 3);
    return multiply_by_dim(&d, back ? 3 : 1) && multiply_by_dim(&dv, back ? 2 : 1) &&
                   !__builtin_add_overflow(d, dv, &width)
               ? width
               : -1;
}

/* cuDNN's attention: 2 x batch x heads x queries x keys x that factor; half of it with a causal
 * mask of a square. A sliding window over the keys needs fewer, but is not recorded. */
static bool attention_product(hlo_product *out, const hlo_program *p, const hlo_instr *in)
{
    vp_str json = in->backend_config, mask = json_text_behind_key(json, VP_STR("mask_type"));
    hlo_numbers scores = {.n = 0};
    numbers_behind(&scores, json_text_behind_key(json, VP_STR("intermediate_tensor_shape")),
                   VP_STR("dimensions"));
    if (scores.n != 4 || scores.beyond || is_positive(json, VP_STR("sliding_window_length")))
        return false;
    out->flops = 2;
    for (size_t i = 0; i < scores.n; i++)
        if (!multiply_by_dim(&out->flops, scores.v[i]))
            return false;
    if (!multiply_by_dim(&out->flops, score_width(p, in)))
        return false;
    out->dtype = dtype_of(operand_shape(p, in, 0));
    if (json_text_contains(vp_str_head(mask, 24), VP_STR("CAUSAL")) && scores.v[2] == scores.v[3])
        out->flops /= 2;
    return true;
}

/* ---- Convolutions ---- */

typedef struct window_dim {
    int64_t size, stride, low, dilation, base;
} window_dim;

/* ConvolutionDimensionNumbers; fields with value 0 are missing. */
enum {
    KERNEL_OUTPUT_FEATURE = 4,
    INPUT_BATCH = 7,
    INPUT_FEATURE = 8,
    INPUT_SPATIAL = 11,
    OUTPUT_SPATIAL = 12
};

typedef struct convolution {
    window_dim window[RANK_MAX];
    size_t dims;
    int64_t feature_groups, batch_groups;
    int64_t kernel_output, input_batch, input_feature;
    hlo_numbers input, output; /* spatial dimensions */
} convolution;

static void read_window(convolution *c, vp_str message)
{
    vp_pb r = vp_pb_of(message), d;
    vp_pb_field f, g;
    while (vp_pb_next(&r, &f) > 0) {
        if (f.number != WINDOW_DIMENSIONS || f.wire != VP_PB_LEN || c->dims == RANK_MAX)
            continue;
        window_dim *w = &c->window[c->dims++];
        int64_t *const to[] = {NULL, &w->size, &w->stride, &w->low, NULL, &w->dilation, &w->base};
        *w = (window_dim){0};
        for (d = vp_pb_of(f.data); vp_pb_next(&d, &g) > 0;)
            if (g.wire == VP_PB_VARINT && g.number < sizeof to / sizeof *to && to[g.number])
                *to[g.number] = (int64_t)g.u;
    }
}

static void read_numbers(convolution *c, vp_str message)
{
    vp_pb r = vp_pb_of(message);
    vp_pb_field f;
    while (vp_pb_next(&r, &f) > 0) {
        if (f.number == KERNEL_OUTPUT_FEATURE)
            c->kernel_output = (int64_t)f.u;
        else if (f.number == INPUT_BATCH)
            c->input_batch = (int64_t)f.u;
        else if (f.number == INPUT_FEATURE)
            c->input_feature = (int64_t)f.u;
        else if (f.number == INPUT_SPATIAL)
            hlo_add_numbers(&c->input, &f);
        else if (f.number == OUTPUT_SPATIAL)
            hlo_add_numbers(&c->output, &f);
    }
}

static void read_convolution(convolution *c, const hlo_instr *in)
{
    vp_pb r = vp_pb_of(in->raw);
    vp_pb_field f;
    *c = (convolution){.feature_groups = 1, .batch_groups = 1};
    while (vp_pb_next(&r, &f) > 0) {
        if (f.number == WINDOW && f.wire == VP_PB_LEN)
            read_window(c, f.data);
        else if (f.number == CONVOLUTION && f.wire == VP_PB_LEN)
            read_numbers(c, f.data);
        else if (f.number == FEATURE_GROUPS && f.wire == VP_PB_VARINT && f.u)
            c->feature_groups = (int64_t)f.u;
        else if (f.number == BATCH_GROUPS && f.wire == VP_PB_VARINT && f.u)
            c->batch_groups = (int64_t)f.u;
    }
}

#define SIDE_MAX (INT64_C(1) << 20)

static bool is_side(int64_t v)
{
    return v > 0 && v <= SIDE_MAX;
}

static bool is_offset(int64_t v)
{
    return v >= -SIDE_MAX && v <= SIDE_MAX;
}

static bool is_counted(const window_dim *w, int64_t base, int64_t in, int64_t out)
{
    return is_side(w->size) && is_side(in) && is_side(out) && is_side(base) && is_offset(w->low) &&
           is_offset(w->stride) && is_offset(w->dilation) && w->size * out <= 4 * SIDE_MAX;
}

/* Pairs of kernel and output positions that are inside the input; -1: a size is invalid, or too
 * large to count. */
static int64_t valid_pairs(const window_dim *w, int64_t in, int64_t out)
{
    int64_t pairs = 0, base = w->base ? w->base : 1;
    if (!is_counted(w, base, in, out))
        return -1;
    for (int64_t k = 0; k < w->size; k++)
        for (int64_t o = 0; o < out; o++) {
            int64_t at = o * w->stride - w->low + k * w->dilation;
            pairs += at >= 0 && at <= (in - 1) * base && at % base == 0;
        }
    return pairs;
}

/* Gradients are convolutions with the same dimension numbers: which array is input, kernel and
 * output depends on the gradient. */
typedef struct convolved {
    const hlo_shape *input, *kernel, *output;
} convolved;

static convolved parts_of(const hlo_instr *in, const hlo_shape *a, const hlo_shape *b,
                          const hlo_shape *r)
{
    if (json_text_contains(in->custom_call_target, VP_STR("BackwardInput")))
        return (convolved){r, b, a};
    if (json_text_contains(in->custom_call_target, VP_STR("BackwardFilter")))
        return (convolved){a, r, b};
    return (convolved){a, b, r};
}

/* As a matmul: each position of the output is a row, each of its features a column. */
static product_shape convolution_as_product(const hlo_program *p, const convolution *c,
                                            convolved of)
{
    int64_t rows = extent_of_dims(p, of.output, &c->output);
    bool fits =
        multiply_by_dim(&rows, shape_dim(p, of.input, c->input_batch)) && c->batch_groups == 1;
    return (product_shape){
        fits ? rows : 0, shape_dim(p, of.kernel, c->kernel_output) / c->feature_groups,
        shape_dim(p, of.input, c->input_feature) / c->feature_groups, c->feature_groups};
}

static bool convolution_product(hlo_product *out, const hlo_program *p, const hlo_instr *in)
{
    const hlo_shape *a = operand_shape(p, in, 0), *b = operand_shape(p, in, 1);
    const hlo_shape *r = shape_at(p, in->shape);
    const convolved of = parts_of(in, a, b, r);
    convolution c;
    read_convolution(&c, in);
    if (!a || !b || !r || c.input.beyond || c.output.beyond || c.input.n != c.dims ||
        c.output.n != c.dims)
        return false;
    out->dtype = dtype_of(a);
    out->flops = 2;
    if (!multiply_by_dim(&out->flops, shape_dim(p, of.input, c.input_feature) / c.feature_groups) ||
        !multiply_by_dim(&out->flops, shape_dim(p, of.kernel, c.kernel_output)) ||
        !multiply_by_dim(&out->flops, shape_dim(p, of.input, c.input_batch) / c.batch_groups))
        return false;
    out->shape = of.output == r ? convolution_as_product(p, &c, of) : (product_shape){0};
    for (size_t i = 0; i < c.dims; i++)
        if (!multiply_by_dim(&out->flops,
                             valid_pairs(&c.window[i], shape_dim(p, of.input, c.input.v[i]),
                                         shape_dim(p, of.output, c.output.v[i]))))
            return false;
    return true;
}

static bool library_call(hlo_product *out, const hlo_program *p, const hlo_instr *in)
{
    vp_str target = in->custom_call_target;
    if (vp_str_starts(target, VP_STR("__cublas$")))
        return library_gemm(out, p, in);
    if (vp_str_starts(target, VP_STR("__cudnn$fmha")))
        return attention_product(out, p, in);
    return vp_str_starts(target, VP_STR("__cudnn$conv")) && convolution_product(out, p, in);
}

bool hlo_product_of(hlo_product *out, const hlo_program *p, const hlo_instr *in)
{
    *out = (hlo_product){.passes = 1};
    if (vp_str_eq(in->opcode, VP_STR("custom-call")))
        return library_call(out, p, in);
    bool is_dot = vp_str_eq(in->opcode, VP_STR("dot"));
    if (!is_dot && !vp_str_eq(in->opcode, VP_STR("convolution")))
        return false;
    if (!(is_dot ? dot_product : convolution_product)(out, p, in))
        return false;
    out->passes = out->dtype == VP_DTYPE_F32 ? passes_of(in) : 1;
    return true;
}
