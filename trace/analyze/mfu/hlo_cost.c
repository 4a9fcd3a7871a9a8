#include "trace/analyze/mfu/hlo_cost.h"

#include "trace/analyze/mfu/hlo_product.h"
#include "trace/read/hlo/hlo_shape.h"
#include "trace/base/sums.h"

/* Maximum calls below one instruction. */
#define CALLS_MAX 256u
/* Maximum instructions in those calls. */
#define BODY_MAX 200000u

static int64_t operand_bytes(const hlo_program *p, const hlo_instr *in, uint32_t i)
{
    const hlo_instr *x = hlo_operand(p, in, i);
    return x ? hlo_shape_all_bytes(p, x->shape) : 0;
}

static int64_t add_known_bytes(int64_t a, int64_t b)
{
    int64_t sum;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}

/* Bytes read and written, including a library's scratch memory: the second result of its call. */
static int64_t bytes_moved(const hlo_program *p, const hlo_instr *in)
{
    static const char *const slices[] = {"slice", "dynamic-slice", "gather", NULL};
    static const char *const nothing[] = {"parameter", "constant", "tuple", "get-tuple-element",
                                          "bitcast",   "iota",     NULL};
    int64_t result = hlo_shape_all_bytes(p, in->shape), sum;
    if (hlo_has_any_opcode(in, nothing))
        return 0;
    if (hlo_has_any_opcode(in, slices))
        return add_known_bytes(result, result);
    if (hlo_has_opcode(in, "dynamic-update-slice") || hlo_has_opcode(in, "scatter")) {
        sum = operand_bytes(p, in, hlo_has_opcode(in, "scatter") ? 2 : 1);
        return add_known_bytes(sum, sum);
    }
    sum = result;
    for (uint32_t i = 0; i < in->operand_count; i++)
        sum = add_known_bytes(sum, operand_bytes(p, in, i));
    return sum;
}

/* Instructions that run as part of the instruction itself. */
static bool has_body(const hlo_instr *in)
{
    static const char *const bodies[] = {"fusion", "call", "async-start", NULL};
    return hlo_has_any_opcode(in, bodies);
}

/* Calls below an instruction, each as often as it is called, up to a limit, which also ends cycles.
 */
typedef struct body {
    const hlo_program *p;
    uint32_t open[CALLS_MAX];
    size_t n, seen;
    bool beyond;
} body;

static void enter_called_bodies(body *b, const hlo_instr *in)
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
    static const int64_t sides[] = {128, 256};
    sum->shape = sum->what == COST_PRODUCT ? (product_shape){0} : x->shape;
    sum->what = COST_PRODUCT;
    if (x->flops >= sum->flops) {
        sum->dtype = x->dtype;
        sum->passes = x->passes;
    }
    sum->flops = vp_add_most(sum->flops, x->flops);
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        sum->mxu_flops[i] =
            vp_add_most(sum->mxu_flops[i], mxu_padded(x->flops, &x->shape, sides[i]));
}

/* false: beyond the limits. */
static bool sum_products(op_cost *sum, const hlo_program *p, const hlo_instr *in)
{
    hlo_product x;
    body b = {.p = p};
    if (hlo_product_of(&x, p, in))
        add_product(sum, &x);
    enter_called_bodies(&b, in);
    while (b.n && !b.beyond) {
        const hlo_computation *c = &p->computations[b.open[--b.n]];
        for (uint32_t i = 0; i < c->count && !b.beyond; i++) {
            b.beyond = ++b.seen > BODY_MAX;
            if (hlo_product_of(&x, p, &p->instrs[c->first + i]))
                add_product(sum, &x);
            enter_called_bodies(&b, &p->instrs[c->first + i]);
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
    if (!counted || c.bytes < 0 || (hlo_has_opcode(in, "custom-call") && c.what != COST_PRODUCT))
        return (op_cost){.what = COST_UNKNOWN};
    return c;
}
