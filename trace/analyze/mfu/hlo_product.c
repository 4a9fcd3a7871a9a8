#include "trace/analyze/mfu/hlo_product.h"

#include "include/view_profile.h"
#include "trace/read/hlo/hlo_numbers.h"
#include "trace/read/hlo/hlo_shape.h"

#define RANK_MAX HLO_NUMBERS_MAX

/* Fields of InstructionProto that hlo_program.h leaves in `raw`. */
enum { WINDOW = 15, CONVOLUTION = 16, DOT = 30, FEATURE_GROUPS = 50, BATCH_GROUPS = 58 };
enum { DOT_LHS_CONTRACTING = 1, WINDOW_DIMENSIONS = 1 };

static const hlo_shape *shape_at(const hlo_program *p, uint32_t shape)
{
    const hlo_shape *s = shape == HLO_NONE ? NULL : &p->shapes[shape];
    if (s && s->leaf_count)
        s = &p->shapes[s->leaves];
    return s && !s->leaf_count && s->rank <= RANK_MAX ? s : NULL;
}

static const hlo_shape *operand_shape(const hlo_program *p, const hlo_instr *in, uint32_t i)
{
    uint32_t at = i < in->operand_count ? p->links[in->operands + i] : HLO_NONE;
    return at == HLO_NONE ? NULL : shape_at(p, p->instrs[at].shape);
}

static int64_t dim(const hlo_program *p, const hlo_shape *s, int64_t i)
{
    return i >= 0 && i < s->rank ? p->numbers[s->dims + (uint32_t)i] : -1;
}

/* *v times a dimension; false: it is negative, or the product does not fit. */
static bool times(int64_t *v, int64_t by)
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

/* Digits between the brackets behind a key of JSON: ["1","2"]. */
static void numbers_behind(hlo_numbers *out, vp_str json, vp_str key)
{
    size_t at = vp_str_find(json, key);
    vp_str rest = vp_str_skip(json, at < json.n ? at + key.n : json.n);
    uint64_t v;
    while (rest.n && *rest.p != ']') {
        if (vp_take_uint(&rest, RANK_MAX, &v))
            hlo_add_number(out, v);
        else
            rest = vp_str_skip(rest, 1);
    }
}

/* 2 x result x the dimensions that are summed over. */
static bool product(hlo_product *out, const hlo_program *p, const hlo_instr *in,
                    const hlo_numbers *summed)
{
    const hlo_shape *a = operand_shape(p, in, 0), *r = shape_at(p, in->shape);
    if (!a || !r || !summed->n || summed->beyond)
        return false;
    out->flops = 2;
    out->dtype = dtype_of(a);
    for (uint32_t i = 0; i < r->rank; i++)
        if (!times(&out->flops, dim(p, r, i)))
            return false;
    for (size_t i = 0; i < summed->n; i++)
        if (!times(&out->flops, dim(p, a, summed->v[i])))
            return false;
    return true;
}

static bool dot(hlo_product *out, const hlo_program *p, const hlo_instr *in)
{
    hlo_numbers summed = {.n = 0};
    vp_pb r = vp_pb_of(in->raw), d;
    vp_pb_field f, g;
    while (vp_pb_next(&r, &f) > 0)
        if (f.number == DOT && f.wire == VP_PB_LEN)
            for (d = vp_pb_of(f.data); vp_pb_next(&d, &g) > 0;)
                if (g.number == DOT_LHS_CONTRACTING)
                    hlo_add_numbers(&summed, &g);
    return product(out, p, in, &summed);
}

static bool library_gemm(hlo_product *out, const hlo_program *p, const hlo_instr *in)
{
    hlo_numbers summed = {.n = 0};
    numbers_behind(&summed, in->backend_config, VP_STR("lhs_contracting_dimensions"));
    return product(out, p, in, &summed);
}

/* ---- Convolutions ---- */

typedef struct window_dim {
    int64_t size, stride, low, dilation, base;
} window_dim;

/* ConvolutionDimensionNumbers; what is 0 has no field. */
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

/* Pairs of a kernel's and an output's position that lie in the input; -1: a size makes no sense, or
 * is too large to count them. */
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

/* Gradients are of a convolution of the same numbers: what is its input, kernel and output depends
 * on whose gradient it is. */
static bool convolve(hlo_product *out, const hlo_program *p, const hlo_instr *in)
{
    const hlo_shape *a = operand_shape(p, in, 0), *b = operand_shape(p, in, 1);
    const hlo_shape *r = shape_at(p, in->shape), *input = a, *kernel = b, *output = r;
    convolution c;
    read_convolution(&c, in);
    if (vp_str_find(in->custom_call_target, VP_STR("BackwardInput")) < in->custom_call_target.n) {
        input = r;
        output = a;
    } else if (vp_str_find(in->custom_call_target, VP_STR("BackwardFilter")) <
               in->custom_call_target.n) {
        kernel = r;
        output = b;
    }
    if (!a || !b || !r || c.input.beyond || c.output.beyond || c.input.n != c.dims ||
        c.output.n != c.dims)
        return false;
    out->dtype = dtype_of(a);
    out->flops = 2;
    if (!times(&out->flops, dim(p, input, c.input_feature) / c.feature_groups) ||
        !times(&out->flops, dim(p, kernel, c.kernel_output)) ||
        !times(&out->flops, dim(p, input, c.input_batch) / c.batch_groups))
        return false;
    for (size_t i = 0; i < c.dims; i++)
        if (!times(&out->flops, valid_pairs(&c.window[i], dim(p, input, c.input.v[i]),
                                            dim(p, output, c.output.v[i]))))
            return false;
    return true;
}

bool hlo_product_of(hlo_product *out, const hlo_program *p, const hlo_instr *in)
{
    if (vp_str_eq(in->opcode, VP_STR("dot")))
        return dot(out, p, in);
    if (vp_str_eq(in->opcode, VP_STR("convolution")))
        return convolve(out, p, in);
    if (!vp_str_eq(in->opcode, VP_STR("custom-call")))
        return false;
    if (vp_str_starts(in->custom_call_target, VP_STR("__cublas$")))
        return library_gemm(out, p, in);
    return vp_str_starts(in->custom_call_target, VP_STR("__cudnn$conv")) && convolve(out, p, in);
}
