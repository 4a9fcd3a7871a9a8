#include "trace/read/semantics/op_cost.h"

#include "include/view_profile_report.h"

#define DIMS_MAX 8u

/* How the cost of an op follows from its inputs. a, b: indices of its operands; c: index of the
 * added operand, or of the first of stride, padding and dilation; NONE: there is none. */
typedef enum op_form { MATRIX, CONVOLUTION, CONVOLUTION_BACK, ATTENTION, ATTENTION_BACK } op_form;
enum { NONE = 15 };
typedef struct op_row {
    const char *name;
    uint8_t form, a, b, c;
    bool heads_first;   /* ATTENTION: [B, H, T, D], else [B, T, H, D] */
    bool padding_first; /* CONVOLUTION: padding precedes stride */
    uint8_t more;       /* CONVOLUTION: inputs between dilation and groups */
} op_row;

static const op_row rows[] = {
    {"aten::mm", MATRIX, 0, 1, NONE, false, false, 0},
    {"aten::bmm", MATRIX, 0, 1, NONE, false, false, 0},
    {"aten::addmm", MATRIX, 1, 2, 0, false, false, 0},
    {"aten::baddbmm", MATRIX, 1, 2, 0, false, false, 0},
    {"aten::_scaled_mm", MATRIX, 0, 1, NONE, false, false, 0},
    {"aten::_int_mm", MATRIX, 0, 1, NONE, false, false, 0},
    {"aten::_addmm_activation", MATRIX, 1, 2, 0, false, false, 0},
    {"aten::cudnn_convolution", CONVOLUTION, 0, 1, 2, false, true, 0},
    {"aten::miopen_convolution", CONVOLUTION, 0, 1, 3, false, true, 0},
    {"aten::convolution", CONVOLUTION, 0, 1, 3, false, false, 2},
    {"aten::_convolution", CONVOLUTION, 0, 1, 3, false, false, 2},
    {"aten::convolution_backward", CONVOLUTION_BACK, 1, 2, 4, false, false, 2},
    {"aten::_flash_attention_forward", ATTENTION, 0, 1, NONE, false, false, 0},
    {"aten::_efficient_attention_forward", ATTENTION, 0, 1, NONE, false, false, 0},
    {"aten::_scaled_dot_product_cudnn_attention", ATTENTION, 0, 1, NONE, true, false, 0},
    {"aten::_flash_attention_backward", ATTENTION_BACK, 1, 2, NONE, false, false, 0},
    {"aten::_efficient_attention_backward", ATTENTION_BACK, 1, 2, NONE, false, false, 0},
};

static const op_row *op_row_of(vp_str name)
{
    if (!vp_str_starts(name, VP_STR("aten::")))
        return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (vp_str_eq(name, vp_str_of(rows[i].name)))
            return &rows[i];
    return NULL;
}

bool rd_op_has_cost(vp_str name)
{
    return op_row_of(name) != NULL;
}

static vp_str without_space(vp_str s)
{
    while (s.n && (unsigned char)*s.p <= ' ')
        s = vp_str_skip(s, 1);
    while (s.n && (unsigned char)s.p[s.n - 1] <= ' ')
        s.n--;
    return s;
}

/* The item at an index of an array's text; empty if there is none. Commas in strings and nested
 * arrays don't separate items. */
static vp_str item_at(vp_str array, size_t place)
{
    size_t depth = 0, from = 1, at = 0;
    bool quoted = false;
    for (size_t i = 0; i < array.n; i++) {
        char c = array.p[i];
        quoted = c == '"' ? !quoted : quoted;
        if (quoted)
            continue;
        depth += c == '[';
        bool ends = depth == 1 && (c == ',' || c == ']');
        if (ends && at++ == place)
            return without_space((vp_str){array.p + from, i - from});
        from = ends ? i + 1 : from;
        if (c == ']' && --depth == 0)
            break;
        if (depth > 4)
            break;
    }
    return VP_STR_NONE;
}

typedef struct dims {
    int64_t v[DIMS_MAX];
    size_t n;
} dims;

static bool is_between(char c)
{
    return (unsigned char)c <= ' ' || c == ',' || c == '[' || c == '"';
}

/* Parses "[4, 3, 224]", also in quotes, on one line or several. */
static bool read_dims(dims *out, vp_str text)
{
    out->n = 0;
    while (text.n && is_between(*text.p))
        text = vp_str_skip(text, 1);
    while (text.n && *text.p != ']') {
        uint64_t v;
        if (out->n == DIMS_MAX || !vp_take_uint(&text, INT64_MAX, &v))
            return false;
        out->v[out->n++] = (int64_t)v;
        while (text.n && is_between(*text.p))
            text = vp_str_skip(text, 1);
    }
    return text.n > 0;
}

static bool dims_at(dims *out, vp_str array, size_t place)
{
    return read_dims(out, item_at(array, place)) && out->n > 0;
}

/* Arithmetic that sets a flag on overflow. */
typedef struct big {
    int64_t v;
    bool over;
} big;

static big big_times(big x, int64_t y)
{
    x.over = __builtin_mul_overflow(x.v, y, &x.v) || x.over;
    return x;
}

static big big_plus(big x, big y)
{
    x.over = __builtin_add_overflow(x.v, y.v, &x.v) || x.over || y.over;
    return x;
}

static big count_elements(const dims *d)
{
    big all = {1, false};
    for (size_t i = 0; i < d->n; i++)
        all = big_times(all, d->v[i]);
    return all;
}

static int64_t bytes_of_type(vp_str type, uint8_t *dtype)
{
    static const struct {
        const char *name;
        uint8_t dtype, bytes;
    } types[] = {{"float", VP_DTYPE_F32, 4},          {"double", VP_DTYPE_F64, 8},
                 {"c10::BFloat16", VP_DTYPE_BF16, 2}, {"c10::Half", VP_DTYPE_F16, 2},
                 {"signed char", VP_DTYPE_I8, 1},     {"unsigned char", VP_DTYPE_I8, 1}};
    while (type.n && *type.p == '"')
        type = vp_str_head(vp_str_skip(type, 1), type.n - 2);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (vp_str_eq(type, vp_str_of(types[i].name))) {
            *dtype = types[i].dtype;
            return types[i].bytes;
        }
    *dtype = vp_str_starts(type, VP_STR("c10::Float8")) ? VP_DTYPE_F8 : VP_DTYPE_UNKNOWN;
    return *dtype == VP_DTYPE_F8 ? 1 : 4;
}

typedef struct sums {
    big flops, elements;
    int64_t rows, columns, batch;
} sums;

/* [M, K] x [K, N], or B of them. */
static bool matrix_sums(sums *out, const op_row *row, const rd_op_shapes *s)
{
    dims a, b, c = {.n = 0};
    if (!dims_at(&a, s->dims, row->a) || !dims_at(&b, s->dims, row->b) || a.n != b.n || a.n < 2 ||
        a.n > 3 || a.v[a.n - 1] != b.v[b.n - 2])
        return false;
    bool added = row->c != NONE && dims_at(&c, s->dims, row->c);
    big result = big_times(count_elements(&a), b.v[b.n - 1]);
    out->flops = big_times(result, 2);
    result = (big){a.n == 3 ? a.v[0] : 1, false};
    result = big_times(big_times(result, a.v[a.n - 2]), b.v[b.n - 1]);
    out->elements = big_plus(big_plus(count_elements(&a), count_elements(&b)), result);
    if (added)
        out->elements = big_plus(out->elements, count_elements(&c));
    out->rows = a.v[a.n - 2];
    out->columns = b.v[b.n - 1];
    out->batch = a.n == 3 ? a.v[0] : 1;
    return true;
}

/* The value for dimension i; a list of one value applies to all dimensions. */
static int64_t dim_value(const dims *d, size_t i)
{
    return d->v[i < d->n ? i : d->n - 1];
}

/* Positions of the kernel along one dimension; 0: it does not fit. */
static int64_t kernel_positions(int64_t in, int64_t kernel, int64_t stride, int64_t pad,
                                int64_t dilation)
{
    const int64_t most = INT64_C(1) << 40;
    if (in > most || kernel > most || pad > most || dilation > (INT64_C(1) << 20) ||
        kernel > (INT64_C(1) << 20) || stride < 1 || kernel < 1)
        return 0;
    int64_t places = in + 2 * pad - dilation * (kernel - 1) - 1;
    return places < 0 ? 0 : places / stride + 1;
}

/* Input [N, C, …], weight [O, C / groups, …]: FLOP = 2 × result × C / groups × kernel. Positions in
 * the padding count, too. */
static bool convolution_sums(sums *out, const op_row *row, const rd_op_shapes *s)
{
    dims in, w, stride, pad, dilation;
    size_t first = row->c;
    if (!dims_at(&in, s->dims, row->a) || !dims_at(&w, s->dims, row->b) || in.n != w.n ||
        in.n < 3 || in.n > 5 ||
        !dims_at(&stride, s->concrete, first + (row->padding_first ? 1 : 0)) ||
        !dims_at(&pad, s->concrete, first + (row->padding_first ? 0 : 1)) ||
        !dims_at(&dilation, s->concrete, first + 2))
        return false;
    if (row->more && !vp_str_eq(item_at(s->concrete, first + 3), VP_STR("\"False\"")))
        return false; /* transposed */
    big result = big_times((big){in.v[0], false}, w.v[0]);
    for (size_t i = 2; i < in.n; i++)
        result = big_times(result,
                           kernel_positions(in.v[i], w.v[i], dim_value(&stride, i - 2),
                                            dim_value(&pad, i - 2), dim_value(&dilation, i - 2)));
    out->flops = big_times(result, 2);
    for (size_t i = 1; i < w.n; i++)
        out->flops = big_times(out->flops, w.v[i]);
    out->elements = big_plus(big_plus(count_elements(&in), count_elements(&w)), result);
    return result.v > 0;
}

/* FLOP for the gradients of the input, of the weight, or of both. */
static bool convolution_back(sums *out, const op_row *row, const rd_op_shapes *s)
{
    vp_str mask = item_at(s->concrete, row->c + 6u);
    int64_t both = (vp_str_find(mask, VP_STR("True, True")) < mask.n) + 1;
    if (!convolution_sums(out, row, s))
        return false;
    out->flops = big_times(out->flops, both);
    return true;
}

/* FLOP = 2 × B × H × Tq × Tk × (Dqk + Dv); the backward pass takes 2.5 times as much. */
static bool attention_sums(sums *out, const op_row *row, const rd_op_shapes *s, bool back)
{
    dims q, k, v;
    size_t t = row->heads_first ? 2 : 1, h = row->heads_first ? 1 : 2;
    if (!dims_at(&q, s->dims, row->a) || !dims_at(&k, s->dims, row->b) ||
        !dims_at(&v, s->dims, row->b + 1u) || q.n != 4 || k.n != 4 || v.n != 4)
        return false;
    big pairs = big_times(big_times(big_times((big){q.v[0], false}, q.v[h]), q.v[t]), k.v[t]);
    big width = big_plus((big){q.v[3], false}, (big){v.v[3], false});
    out->flops = big_times(big_times(pairs, width.v), back ? 5 : 2);
    out->flops.over = out->flops.over || width.over;
    big result = big_times(big_times(big_times((big){q.v[0], false}, q.v[h]), q.v[t]), v.v[3]);
    out->elements = big_plus(
        big_plus(big_plus(count_elements(&q), count_elements(&k)), count_elements(&v)), result);
    if (back)
        out->elements = big_times(out->elements, 2);
    return true;
}

static bool sums_of(sums *out, const op_row *row, const rd_op_shapes *s)
{
    switch ((op_form)row->form) {
    case MATRIX:
        return matrix_sums(out, row, s);
    case CONVOLUTION:
        return convolution_sums(out, row, s);
    case CONVOLUTION_BACK:
        return convolution_back(out, row, s);
    case ATTENTION:
        return attention_sums(out, row, s, false);
    case ATTENTION_BACK:
        return attention_sums(out, row, s, true);
    }
    return false;
}

bool rd_op_cost(rd_op_cost_of *out, vp_str name, const rd_op_shapes *s)
{
    const op_row *row = op_row_of(name);
    sums sum = {.rows = 0};
    if (!row || !sums_of(&sum, row, s))
        return false;
    int64_t each = bytes_of_type(item_at(s->types, row->a), &out->dtype);
    big bytes = big_times(sum.elements, each);
    out->flops = sum.flops.v;
    out->bytes = bytes.v;
    out->rows = sum.rows;
    out->columns = sum.columns;
    out->batch = sum.batch;
    return !sum.flops.over && !bytes.over;
}

/* Operands beyond these are not looked at. */
#define OPERANDS_MAX 16

bool rd_op_has_float64(const rd_op_shapes *shapes)
{
    for (size_t i = 0; i < OPERANDS_MAX; i++) {
        vp_str type = item_at(shapes->types, i);
        dims d;
        if (!type.n)
            break;
        if (vp_str_eq(type, VP_STR("\"double\"")) && dims_at(&d, shapes->dims, i))
            return true;
    }
    return false;
}
