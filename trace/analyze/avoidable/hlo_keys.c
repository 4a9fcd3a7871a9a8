#include "trace/analyze/avoidable/hlo_keys.h"

#include "trace/analyze/avoidable/hlo_origin.h"
#include "trace/analyze/device/scopes.h"
#include "trace/base/pb.h"

#define LOOPS_MAX 8 /* around a value whose first value is looked for */
#define VIEWS_MAX 16

static uint64_t dims_key(const hlo_program *p, const hlo_instr *in, uint64_t key)
{
    if (!in || in->shape == HLO_NONE)
        return key;
    const hlo_shape *s = &p->shapes[in->shape];
    return vp_hash(p->numbers + s->dims, s->rank * sizeof *p->numbers, key);
}

/* Fields of InstructionProto that tell two instructions of an opcode apart: literal, dimensions,
 * window, convolution, slice, sizes of a dynamic slice, padding, dot, gather and sizes of its
 * slices, comparison. */
static bool is_attribute(uint32_t field)
{
    static const uint8_t fields[] = {8, 14, 15, 16, 17, 20, 21, 30, 33, 34, 63};
    for (size_t i = 0; i < sizeof fields; i++)
        if (field == fields[i])
            return true;
    return false;
}

static uint64_t attributes_key(const hlo_instr *in, uint64_t key)
{
    vp_pb r = vp_pb_of(in->raw);
    vp_pb_field f;
    while (vp_pb_next(&r, &f) > 0)
        if (is_attribute(f.number)) {
            const uint64_t head[] = {key, f.number, f.u};
            key = vp_hash(head, sizeof head, 5);
            key = vp_hash(f.data.p, f.data.n, key);
        }
    return key;
}

static uint64_t operand_key(const hlo_program *p, const hlo_values *x, uint32_t at)
{
    uint64_t key = 6;
    for (int i = 0; i < LOOPS_MAX && at != HLO_NONE; i++) {
        hlo_carry carry;
        uint32_t from = hlo_origin(p, x->caller, at, &carry);
        if (from != HLO_NONE) {
            const uint64_t pair[] = {key, x->v[from].key};
            return i ? vp_hash(pair, sizeof pair, 7) : x->v[from].key;
        }
        if (carry.of == HLO_NONE)
            break;
        const uint64_t pair[] = {key, hlo_has_opcode(&p->instrs[carry.of], "while") ? 1 : carry.of};
        key = vp_hash(pair, sizeof pair, 7);
        const hlo_instr *first = hlo_operand(p, &p->instrs[carry.of], 0);
        if (!first || !hlo_has_opcode(first, "tuple") || carry.element >= first->operand_count) {
            const uint64_t element[] = {key, carry.of, (uint64_t)carry.element};
            return vp_hash(element, sizeof element, 7);
        }
        at = p->links[first->operands + (uint32_t)carry.element];
    }
    const uint64_t unknown[] = {key, at};
    return vp_hash(unknown, sizeof unknown, 8);
}

uint64_t hlo_key_of(const hlo_program *p, const hlo_values *x, uint32_t at)
{
    static const char *const effects[] = {
        "parameter", "custom-call", "rng",     "rng-bit-generator", "infeed",     "while",
        "call",      "fusion",      "scatter", "conditional",       "reduce",     "sort",
        "map",       "recv",        "send",    "async-start",       "async-done", NULL};
    const hlo_instr *in = &p->instrs[at];
    if (hlo_has_opcode(in, "copy"))
        return operand_key(p, x, in->operand_count ? p->links[in->operands] : HLO_NONE);
    uint64_t key = hlo_has_any_opcode(in, effects) ? vp_mix(at) : 9;
    key = vp_hash(in->opcode.p, in->opcode.n, key);
    key = attributes_key(in, dims_key(p, in, key));
    for (uint32_t i = 0; i < in->operand_count; i++) {
        const uint64_t pair[] = {key, operand_key(p, x, p->links[in->operands + i])};
        key = vp_hash(pair, sizeof pair, 10);
    }
    return key;
}

/* The argument of the program that a value is, or a part of; HLO_NONE: none. */
static uint32_t argument_of(const hlo_program *p, const hlo_values *x, uint32_t at)
{
    static const char *const views[] = {"bitcast", "copy",          "convert",   "reshape",
                                        "slice",   "dynamic-slice", "transpose", NULL};
    for (int i = 0; i < VIEWS_MAX && at != HLO_NONE; i++) {
        hlo_carry carry;
        at = hlo_origin(p, x->caller, at, &carry);
        if (at == HLO_NONE || hlo_has_opcode(&p->instrs[at], "parameter"))
            return at;
        if (!hlo_has_any_opcode(&p->instrs[at], views) || !p->instrs[at].operand_count)
            return HLO_NONE;
        at = p->links[p->instrs[at].operands];
    }
    return HLO_NONE;
}

uint64_t hlo_product_key(const hlo_program *p, const hlo_values *x, uint32_t at, bool arguments)
{
    const hlo_instr *in = &p->instrs[at];
    bool backward = scope_is_backward(in->op_name) && !scope_is_remat(in->op_name);
    const uint64_t place[] = {(uint64_t)in->source_line, backward};
    uint64_t key = vp_hash(place, sizeof place, 4);
    key = vp_hash(in->source_file.p, in->source_file.n, key);
    key = dims_key(p, in, key);
    for (uint32_t i = 0; i < 2; i++) {
        key = dims_key(p, hlo_operand(p, in, i), key);
        if (arguments && i < in->operand_count) {
            const uint64_t pair[] = {key, argument_of(p, x, p->links[in->operands + i])};
            key = vp_hash(pair, sizeof pair, 11);
        }
    }
    return key;
}
