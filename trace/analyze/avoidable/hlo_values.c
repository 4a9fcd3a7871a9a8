#include "trace/analyze/avoidable/hlo_values.h"

#include "trace/analyze/avoidable/hlo_keys.h"
#include "trace/analyze/avoidable/hlo_origin.h"
#include "trace/analyze/avoidable/hlo_uses.h"
#include "trace/analyze/mfu/hlo_product.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"
#include "trace/read/hlo/hlo_numbers.h"

/* Fields of InstructionProto and of its literal that hlo_program.h leaves in `raw`. */
enum { LITERAL = 8, DIMENSIONS = 14, COMPARISON_DIRECTION = 63 };
enum { LITERAL_SHAPE = 1 };

/* Calls within calls that are followed. */
#define NESTING_MAX 32u

typedef struct walk {
    const hlo_program *p;
    hlo_values *x;
    bool *entered; /* by computation */
    struct level {
        uint32_t computation, next, call; /* the next instruction; which of its calls comes next */
    } open[NESTING_MAX];
    size_t depth;
} walk;

/* An argument of the program, also one in a tuple, is state. So is what a loop carries: its state.
 */
static hlo_value value_of(const walk *w, uint32_t at)
{
    hlo_carry carry;
    uint32_t from = at == HLO_NONE ? HLO_NONE : hlo_origin(w->p, w->x->caller, at, &carry);
    if (from != HLO_NONE)
        return w->x->v[from];
    if (at == HLO_NONE)
        return (hlo_value){0};
    return (hlo_value){.flags = carry.of != HLO_NONE ? VALUE_STATE : 0, .depth = w->x->v[at].depth};
}

static hlo_value operand_value(const walk *w, const hlo_instr *in, uint32_t i)
{
    return value_of(w, i < in->operand_count ? w->p->links[in->operands + i] : HLO_NONE);
}

/* ---- One instruction ---- */

/* A constant of zeros. Elements are in fields of their types, packed. */
static bool is_zero_constant(const hlo_instr *in)
{
    vp_pb literal = {0}, r = vp_pb_of(in->raw);
    vp_pb_field f;
    bool any = false;
    while (vp_pb_next(&r, &f) > 0)
        if (f.number == LITERAL && f.wire == VP_PB_LEN)
            literal = vp_pb_of(f.data);
    while (vp_pb_next(&literal, &f) > 0) {
        if (f.number == LITERAL_SHAPE || f.wire != VP_PB_LEN)
            continue;
        for (size_t i = 0; i < f.data.n; i++)
            if (f.data.p[i])
                return false;
        any = any || f.data.n;
    }
    return any;
}

static uint32_t iota_width(const hlo_program *p, const hlo_instr *in)
{
    hlo_numbers d = {.n = 0};
    const hlo_shape *s = in->shape == HLO_NONE ? NULL : &p->shapes[in->shape];
    hlo_numbers_of(&d, in->raw, DIMENSIONS);
    int64_t at = d.n ? d.v[0] : 0;
    if (!s || at < 0 || at >= s->rank)
        return 0;
    int64_t n = p->numbers[s->dims + (uint32_t)at];
    return n > 0 && n < UINT32_MAX ? (uint32_t)n : 0;
}

static bool compares_equal(const hlo_instr *in)
{
    vp_pb r = vp_pb_of(in->raw);
    vp_pb_field f;
    while (vp_pb_next(&r, &f) > 0)
        if (f.number == COMPARISON_DIRECTION)
            return vp_str_eq(f.data, VP_STR("EQ"));
    return false;
}

/* Equal to an iota in at most one place: one-hot. Two iotas are equal on a diagonal. */
static hlo_value compare_value(const walk *w, const hlo_instr *in)
{
    hlo_value a = operand_value(w, in, 0), b = operand_value(w, in, 1), out = {0};
    if (!((a.flags | b.flags) & VALUE_IOTA) || !compares_equal(in))
        return out;
    out.flags = a.flags & b.flags & VALUE_IOTA ? VALUE_IDENTITY : VALUE_ONE_HOT;
    out.width = a.flags & VALUE_IOTA ? a.width : b.width;
    return out;
}

/* A scatter of few rows into zeros, or into such a value. */
static hlo_value scatter_value(const walk *w, const hlo_instr *in)
{
    hlo_value into = operand_value(w, in, 0);
    int64_t all = hlo_elements_of(w->p, hlo_operand(w->p, in, 0));
    int64_t few = hlo_elements_of(w->p, hlo_operand(w->p, in, 2));
    bool table = in->operand_count == 3 && all >= HLO_TABLE_ELEMENTS && few > 0 &&
                 few <= all / HLO_TABLE_FACTOR && into.flags & (VALUE_ZERO | VALUE_FEW_ROWS);
    return (hlo_value){.flags = table ? VALUE_FEW_ROWS : 0};
}

/* Element-wise: zero elements of a factor stay zero, and few changed rows of state stay few. */
static hlo_value pointwise_value(const walk *w, const hlo_instr *in)
{
    bool multiplies = hlo_has_opcode(in, "multiply") || hlo_has_opcode(in, "and");
    bool selects = hlo_has_opcode(in, "select");
    uint16_t all = UINT16_MAX, any = 0;
    hlo_value out = {0}, hot = {0};
    for (uint32_t i = 0; i < in->operand_count; i++) {
        hlo_value x = operand_value(w, in, i);
        any |= x.flags;
        /* state and few rows together are few rows */
        all &= x.flags & VALUE_FEW_ROWS ? x.flags | VALUE_STATE : x.flags;
        if (x.flags & VALUE_ONE_HOT && (multiplies || (selects && i == 0)))
            hot = x;
    }
    if (selects && !(operand_value(w, in, 2).flags & VALUE_ZERO))
        hot = (hlo_value){0};
    if (!in->operand_count)
        return out;
    out.flags = hot.flags & VALUE_ONE_HOT;
    out.width = hot.width;
    out.flags |= all & VALUE_STATE ? (any & VALUE_FEW_ROWS ? VALUE_FEW_ROWS : VALUE_STATE) : 0;
    return out;
}

static const char *const views[] = {"bitcast",       "copy",      "convert",          "reshape",
                                    "transpose",     "reverse",   "bitcast-convert",  "broadcast",
                                    "slice",         "copy-done", "reduce-precision", "copy-start",
                                    "dynamic-slice", NULL};

static const char *const pointwise[] = {
    "add",         "subtract", "multiply", "divide",    "maximum", "minimum",  "negate",
    "abs",         "sign",     "sqrt",     "rsqrt",     "power",   "select",   "compare",
    "clamp",       "and",      "or",       "not",       "xor",     "floor",    "ceil",
    "exponential", "log",      "tanh",     "is-finite", "cbrt",    "logistic", NULL};

static hlo_value meaning_of(const walk *w, const hlo_instr *in)
{
    hlo_value out = {0};
    if (hlo_has_opcode(in, "iota"))
        return (hlo_value){.flags = VALUE_IOTA, .width = iota_width(w->p, in)};
    if (hlo_has_opcode(in, "constant"))
        return (hlo_value){.flags =
                               (uint16_t)(VALUE_STATE | (is_zero_constant(in) ? VALUE_ZERO : 0))};
    if (hlo_has_opcode(in, "parameter"))
        return (hlo_value){.flags = in->computation == w->p->entry ? VALUE_STATE : 0};
    if (hlo_has_opcode(in, "scatter"))
        return scatter_value(w, in);
    if (hlo_has_opcode(in, "gather")) {
        out = operand_value(w, in, 0);
        return (hlo_value){.flags = out.flags & VALUE_IDENTITY ? VALUE_ONE_HOT : 0,
                           .width = out.width};
    }
    if (hlo_has_opcode(in, "compare"))
        out = compare_value(w, in);
    if (!out.flags && hlo_has_any_opcode(in, pointwise))
        out = pointwise_value(w, in);
    if (hlo_has_any_opcode(in, views)) {
        out = operand_value(w, in, 0);
        bool part = hlo_elements_of(w->p, in) < hlo_elements_of(w->p, hlo_operand(w->p, in, 0));
        out.flags &= part ? VALUE_IOTA | VALUE_ONE_HOT | VALUE_ZERO | VALUE_STATE : UINT16_MAX;
    }
    return out;
}

static void set_value(const walk *w, uint32_t at)
{
    const hlo_instr *in = &w->p->instrs[at];
    hlo_value *v = &w->x->v[at];
    uint32_t depth = 0;
    hlo_product product;
    *v = meaning_of(w, in);
    v->flags &= (uint16_t) ~(VALUE_PRODUCT | VALUE_LOOKUP | VALUE_UPDATE);
    if (hlo_elements_of(w->p, in) == 1) /* a norm of few rows, a step number: state */
        v->flags |= VALUE_STATE;
    for (uint32_t i = 0; i < in->operand_count; i++) {
        uint32_t d = operand_value(w, in, i).depth;
        depth = d > depth ? d : depth;
    }
    for (uint32_t i = 0; i < in->called_count; i++) {
        uint32_t c = w->p->links[in->called + i];
        uint32_t root = c == HLO_NONE ? HLO_NONE : w->p->computations[c].root;
        if (root != HLO_NONE && w->x->v[root].depth > depth)
            depth = w->x->v[root].depth;
    }
    if (hlo_product_of(&product, w->p, in)) {
        v->flags |= VALUE_PRODUCT;
        v->flops = product.flops;
        depth += depth < UINT32_MAX;
    }
    v->depth = depth;
    v->key = hlo_key_of(w->p, w->x, at);
}

/* ---- All instructions ---- */

static bool is_entered(const hlo_instr *in)
{
    static const char *const calls[] = {"fusion",      "call",        "while",
                                        "conditional", "async-start", NULL};
    return hlo_has_any_opcode(in, calls);
}

static void enter(walk *w, uint32_t computation, uint32_t caller)
{
    if (w->entered[computation] || w->depth == NESTING_MAX)
        return;
    w->entered[computation] = true;
    w->x->caller[computation] = caller;
    w->open[w->depth++] = (struct level){.computation = computation};
}

/* The computations that an instruction calls come before its own value. */
static void visit_all(walk *w)
{
    const hlo_program *p = w->p;
    enter(w, p->entry, HLO_NONE);
    while (w->depth) {
        struct level *l = &w->open[w->depth - 1];
        const hlo_computation *c = &p->computations[l->computation];
        if (l->next == c->count) {
            w->depth--;
            continue;
        }
        uint32_t at = c->first + l->next;
        const hlo_instr *in = &p->instrs[at];
        if (l->call < in->called_count && is_entered(in)) {
            uint32_t callee = p->links[in->called + l->call++];
            if (callee != HLO_NONE)
                enter(w, callee, at);
            continue;
        }
        l->next++;
        l->call = 0;
        set_value(w, at);
    }
}

int hlo_values_new(hlo_values *out, const hlo_program *p)
{
    walk w = {.p = p, .x = out};
    *out = (hlo_values){0};
    out->v = vp_calloc(p->instr_count + 1, sizeof *out->v);
    out->caller = vp_realloc_array(NULL, p->computation_count + 1, sizeof *out->caller);
    VP_CLEANUP(vp_free_ptr) bool *entered = vp_calloc(p->computation_count + 1, sizeof *entered);
    VP_NEED(out->v && out->caller && entered);
    for (size_t c = 0; c < p->computation_count; c++)
        out->caller[c] = HLO_NONE;
    if (p->entry == HLO_NONE)
        return 0;
    w.entered = entered;
    visit_all(&w);
    return hlo_uses_mark(p, out);
}

void hlo_values_free(hlo_values *x)
{
    vp_free(x->v);
    vp_free(x->caller);
    *x = (hlo_values){0};
}
