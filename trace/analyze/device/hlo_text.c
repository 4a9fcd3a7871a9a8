#include "trace/analyze/device/hlo_text.h"

#include <limits.h>

static vp_str drop_space(vp_str s)
{
    for (;;) {
        while (s.n && (*s.p == ' ' || *s.p == ','))
            s = vp_str_skip(s, 1);
        if (!vp_str_starts(s, VP_STR("/*")))
            return s;
        s = vp_str_skip(s, vp_str_find(s, VP_STR("*/")) + 2);
    }
}

/* Length of the bracketed text that s starts with, including brackets; 0: not closed. */
static size_t bracketed_length(vp_str s)
{
    int depth = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        depth += c == '(' || c == '[' || c == '{';
        depth -= c == ')' || c == ']' || c == '}';
        if (depth == 0)
            return i + 1;
        if (depth == INT_MAX)
            break;
    }
    return 0;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Takes a shape without its layout into *type and *dims, and the content of its layout. */
static bool take_leaf(vp_str *in, vp_str *type, vp_str *dims, vp_str *layout)
{
    vp_str s = *in;
    size_t n = 0;
    while (n < s.n && is_word(s.p[n]))
        n++;
    *type = vp_str_head(s, n);
    s = vp_str_skip(s, n);
    size_t box = n && s.n && *s.p == '[' ? bracketed_length(s) : 0;
    if (!box)
        return false;
    *dims = vp_str_head(vp_str_skip(s, 1), box - 2);
    s = vp_str_skip(s, box);
    size_t braces = s.n && *s.p == '{' ? bracketed_length(s) : 0;
    *layout = vp_str_head(s, braces);
    *in = vp_str_skip(s, braces);
    return true;
}

/* Takes a shape, tuple or not, from the start of *in. */
static bool take_shape(vp_str *in, vp_str *out)
{
    vp_str type, dims, layout, rest = *in;
    if (rest.n && *rest.p == '(') {
        size_t n = bracketed_length(rest);
        *out = vp_str_head(rest, n);
        *in = vp_str_skip(rest, n);
        return n > 0;
    }
    if (!take_leaf(&rest, &type, &dims, &layout))
        return false;
    *out = vp_str_head(*in, (size_t)(rest.p - in->p));
    *in = rest;
    return true;
}

bool hlo_split(hlo_text *out, vp_str text)
{
    hlo_text h;
    size_t at = vp_str_find(text, VP_STR(" = "));
    vp_str s = vp_str_skip(text, at + 3);
    if (at >= text.n || !take_shape(&s, &h.shape))
        return false;
    s = drop_space(s);
    size_t open = vp_str_find(s, VP_STR("("));
    h.opcode = vp_str_head(s, open);
    s = vp_str_skip(s, open);
    size_t n = s.n ? bracketed_length(s) : 0; /* a truncated text still has its shape */
    h.operands = n ? vp_str_head(vp_str_skip(s, 1), n - 2) : VP_STR_NONE;
    *out = h;
    return true;
}

vp_str hlo_element(vp_str shape, unsigned i)
{
    vp_str element = VP_STR_NONE, s = drop_space(shape);
    if (!s.n || *s.p != '(')
        return i == 0 ? shape : VP_STR_NONE;
    size_t n = bracketed_length(s);
    s = n ? vp_str_head(vp_str_skip(s, 1), n - 2) : VP_STR_NONE;
    for (unsigned k = 0; k <= i; k++) {
        s = drop_space(s);
        if (!take_shape(&s, &element))
            return VP_STR_NONE;
    }
    return element;
}

/* Bits of an element: f32, bf16, s4, u2, c64, f8e4m3fn, f4e2m1fn, pred; -1 unknown. */
static int64_t element_type_bits(vp_str type)
{
    if (vp_str_eq(type, VP_STR("pred")))
        return 8;
    if (vp_str_eq(type, VP_STR("token")) || vp_str_eq(type, VP_STR("opaque")))
        return 0;
    if (vp_str_starts(type, VP_STR("bf")))
        type = vp_str_skip(type, 1);
    int64_t bits = 0;
    size_t i = 1;
    if (!type.n || !strchr("fsuc", *type.p))
        return -1;
    for (; i < type.n && i < 5 && type.p[i] >= '0' && type.p[i] <= '9'; i++)
        bits = bits * 10 + (type.p[i] - '0');
    bool plain = i == type.n || (*type.p == 'f' && type.p[i] == 'e');
    return plain && bits ? bits : -1;
}

static int64_t leaf_bytes(vp_str type, vp_str dims)
{
    int64_t bits = element_type_bits(type);
    vp_str dim;
    if (bits <= 0)
        return bits;
    while (dims.n) {
        uint64_t d;
        if (!vp_take_until(&dims, ',', dims.n, &dim))
            return -1;
        dim = vp_str_trim(dim);
        if (vp_str_starts(dim, VP_STR("<="))) /* dynamic: the reserved size */
            dim = vp_str_skip(dim, 2);
        if (!vp_str_to_u64(dim, &d) || d > INT64_MAX ||
            __builtin_mul_overflow(bits, (int64_t)d, &bits))
            return -1;
    }
    return bits / 8 + (bits % 8 != 0);
}

/* Adds the bytes of the leaf at the start of *in. */
static bool add_leaf(int64_t *sum, vp_str *in)
{
    vp_str type, dims, layout;
    if (!take_leaf(in, &type, &dims, &layout))
        return false;
    int64_t bytes = leaf_bytes(type, dims);
    return bytes >= 0 && !__builtin_add_overflow(*sum, bytes, sum);
}

int64_t hlo_bytes(vp_str shape)
{
    int64_t sum = 0;
    vp_str s = drop_space(shape);
    if (!s.n)
        return -1;
    for (; s.n; s = drop_space(s)) {
        if (*s.p == '(' || *s.p == ')')
            s = vp_str_skip(s, 1);
        else if (!add_leaf(&sum, &s))
            return -1;
    }
    return sum;
}

int64_t hlo_operand_bytes(vp_str operands)
{
    int64_t sum = 0;
    vp_str shape, s = drop_space(operands);
    if (!s.n)
        return -1;
    for (; s.n; s = drop_space(s)) {
        int64_t bytes = take_shape(&s, &shape) ? hlo_bytes(shape) : -1;
        if (bytes < 0 || __builtin_add_overflow(sum, bytes, &sum))
            return -1;
        s = vp_str_skip(s, vp_str_find(s, VP_STR(",")));
    }
    return sum;
}

int hlo_memory_space(vp_str shape)
{
    vp_str type, dims, layout, s = drop_space(shape);
    uint64_t space;
    while (s.n && *s.p == '(')
        s = drop_space(vp_str_skip(s, 1));
    if (!take_leaf(&s, &type, &dims, &layout))
        return 0;
    layout = vp_str_skip(layout, vp_str_find(layout, VP_STR("S(")) + 2);
    return vp_take_uint(&layout, 1000, &space) ? (int)space : 0;
}

vp_str hlo_last_operand(vp_str operands)
{
    size_t at = vp_str_rfind_char(operands, '%');
    vp_str name = vp_str_skip(operands, at + 1);
    return at < operands.n ? vp_str_head(name, vp_str_find(name, VP_STR(","))) : VP_STR_NONE;
}
