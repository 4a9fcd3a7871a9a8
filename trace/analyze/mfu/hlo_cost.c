#include "trace/analyze/mfu/hlo_cost.h"

#include "trace/analyze/mfu/hlo_product.h"
#include "trace/read/names/hlo_types.h"
#include "trace/read/hlo/hlo_shape.h"
#include "trace/base/sums.h"

/* Leaves of a shape, and calls below one instruction, that are looked at. */
#define LEAVES_MAX 4096u
#define CALLS_MAX 256u
/* Instructions in those calls. */
#define BODY_MAX 200000u

/* Bytes without padding: of an array, or of all arrays of a tuple; -1: some size makes no sense. */
static int64_t bytes_of(const hlo_program *p, uint32_t shape)
{
    uint32_t open[64];
    size_t n = 0, seen = 0;
    int64_t sum = 0;
    if (shape != HLO_NONE)
        open[n++] = shape;
    while (n) {
        const hlo_shape *s = &p->shapes[open[--n]];
        if (++seen > LEAVES_MAX)
            return -1;
        if (s->type != HLO_TYPE_TUPLE) {
            int64_t bytes = hlo_shape_bytes(p, (uint32_t)(s - p->shapes));
            if (bytes < 0 || __builtin_add_overflow(sum, bytes, &sum))
                return -1;
            continue;
        }
        for (uint32_t i = 0; i < s->leaf_count; i++) {
            if (n == sizeof open / sizeof *open)
                return -1;
            open[n++] = s->leaves + i;
        }
    }
    return sum;
}

static bool is(const hlo_instr *in, const char *opcode)
{
    return vp_str_eq(in->opcode, vp_str_of(opcode));
}

static bool any_of(const hlo_instr *in, const char *const *opcodes)
{
    for (; *opcodes; opcodes++)
        if (is(in, *opcodes))
            return true;
    return false;
}

static int64_t operand_bytes(const hlo_program *p, const hlo_instr *in, uint32_t i)
{
    uint32_t at = i < in->operand_count ? p->links[in->operands + i] : HLO_NONE;
    return at == HLO_NONE ? 0 : bytes_of(p, p->instrs[at].shape);
}

static int64_t add_bytes(int64_t a, int64_t b)
{
    int64_t sum;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}

/* What it reads and writes, a library's scratch included: the second result of its call. */
static int64_t bytes_moved(const hlo_program *p, const hlo_instr *in)
{
    static const char *const slices[] = {"slice", "dynamic-slice", "gather", NULL};
    static const char *const nothing[] = {"parameter", "constant", "tuple", "get-tuple-element",
                                          "bitcast",   "iota",     NULL};
    int64_t result = bytes_of(p, in->shape), sum;
    if (any_of(in, nothing))
        return 0;
    if (any_of(in, slices))
        return add_bytes(result, result);
    if (is(in, "dynamic-update-slice") || is(in, "scatter")) {
        sum = operand_bytes(p, in, is(in, "scatter") ? 2 : 1);
        return add_bytes(sum, sum);
    }
    sum = result;
    for (uint32_t i = 0; i < in->operand_count; i++)
        sum = add_bytes(sum, operand_bytes(p, in, i));
    return sum;
}

/* What runs as part of the instruction itself. */
static bool has_body(const hlo_instr *in)
{
    static const char *const bodies[] = {"fusion", "call", "async-start", NULL};
    return any_of(in, bodies);
}

/* Calls below an instruction, each as often as it is called, up to a bound that circles meet. */
typedef struct body {
    const hlo_program *p;
    uint32_t open[CALLS_MAX];
    size_t n, seen;
    bool beyond;
} body;

static void enter(body *b, const hlo_instr *in)
{
    for (uint32_t i = 0; has_body(in) && i < in->called_count; i++) {
        uint32_t called = b->p->links[in->called + i];
        if (called == HLO_NONE)
            continue;
        if (b->n == CALLS_MAX) {
            b->beyond = true;
            return;
        }
        b->open[b->n++] = called;
    }
}

static void add_product(op_cost *sum, const hlo_product *x)
{
    sum->what = COST_PRODUCT;
    if (x->flops >= sum->flops)
        sum->dtype = x->dtype;
    sum->flops = vp_add_most(sum->flops, x->flops);
}

/* false: beyond what is looked at. */
static bool sum_products(op_cost *sum, const hlo_program *p, const hlo_instr *in)
{
    hlo_product x;
    body b = {.p = p};
    if (hlo_product_of(&x, p, in))
        add_product(sum, &x);
    enter(&b, in);
    while (b.n && !b.beyond) {
        const hlo_computation *c = &p->computations[b.open[--b.n]];
        for (uint32_t i = 0; i < c->count && !b.beyond; i++) {
            b.beyond = ++b.seen > BODY_MAX;
            if (hlo_product_of(&x, p, &p->instrs[c->first + i]))
                add_product(sum, &x);
            enter(&b, &p->instrs[c->first + i]);
        }
    }
    return !b.beyond;
}

op_cost hlo_cost_of(const hlo_program *p, uint32_t instruction)
{
    const hlo_instr *in = &p->instrs[instruction];
    op_cost c = {.what = COST_OTHER, .source = VP_COST_HLO};
    bool counted = sum_products(&c, p, in);
    c.bytes = bytes_moved(p, in);
    c.padded = c.flops;
    if (!counted || c.bytes < 0 || (is(in, "custom-call") && c.what != COST_PRODUCT))
        return (op_cost){.what = COST_UNKNOWN};
    return c;
}
