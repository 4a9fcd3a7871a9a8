#include "trace/analyze/avoidable/hlo_origin.h"

/* Instructions that are followed. */
#define ORIGIN_STEPS_MAX 64

/* The instruction whose result is element `index` of the tuple of a loop, which the body does not
 * change; HLO_NONE: it may. */
static uint32_t invariant_of_loop(const hlo_program *p, const hlo_instr *loop, int64_t index)
{
    uint32_t body = loop->called_count ? p->links[loop->called] : HLO_NONE;
    for (uint32_t i = 0; i < loop->called_count && i < 2; i++) {
        uint32_t c = p->links[loop->called + i];
        uint32_t root = c == HLO_NONE ? HLO_NONE : p->computations[c].root;
        if (root != HLO_NONE && hlo_has_opcode(&p->instrs[root], "tuple"))
            body = c;
    }
    uint32_t root = body == HLO_NONE ? HLO_NONE : p->computations[body].root;
    if (root == HLO_NONE || index < 0 || index >= p->instrs[root].operand_count)
        return HLO_NONE;
    const hlo_instr *element = hlo_operand(p, &p->instrs[root], (uint32_t)index);
    const hlo_instr *from = element ? hlo_operand(p, element, 0) : NULL;
    bool same = from && hlo_has_opcode(element, "get-tuple-element") &&
                element->tuple_index == index && hlo_has_opcode(from, "parameter");
    return same && loop->operand_count ? p->links[loop->operands] : HLO_NONE;
}

/* What the caller of a computation passes as its parameter. A loop passes an element of its tuple.
 */
static uint32_t argument_of_caller(const hlo_program *p, const hlo_instr *parameter,
                                   uint32_t caller, int64_t element, hlo_carry *carry)
{
    const hlo_instr *by = &p->instrs[caller];
    int64_t n = parameter->parameter_number;
    bool loop = hlo_has_opcode(by, "while");
    *carry = (hlo_carry){loop && element >= 0 ? caller : HLO_NONE, element};
    return loop                              ? invariant_of_loop(p, by, element)
           : n >= 0 && n < by->operand_count ? p->links[by->operands + (uint32_t)n]
                                             : HLO_NONE;
}

uint32_t hlo_origin(const hlo_program *p, const uint32_t *callers, uint32_t at, hlo_carry *carry)
{
    int64_t element = -1; /* of the tuple `at` */
    *carry = (hlo_carry){HLO_NONE, -1};
    for (int i = 0; i < ORIGIN_STEPS_MAX && at != HLO_NONE; i++) {
        const hlo_instr *in = &p->instrs[at];
        uint32_t caller = callers[in->computation];
        if (hlo_has_opcode(in, "get-tuple-element") && element < 0) {
            element = in->tuple_index;
            at = in->operand_count ? p->links[in->operands] : HLO_NONE;
        } else if (hlo_has_opcode(in, "tuple") && element >= 0) {
            at =
                element < in->operand_count ? p->links[in->operands + (uint32_t)element] : HLO_NONE;
            element = -1;
        } else if (hlo_has_opcode(in, "opt-barrier")) {
            at = in->operand_count ? p->links[in->operands] : HLO_NONE;
        } else if (hlo_has_opcode(in, "parameter") && caller != HLO_NONE) {
            if (hlo_has_opcode(&p->instrs[caller], "conditional"))
                return HLO_NONE;
            at = argument_of_caller(p, in, caller, element, carry);
        } else if ((hlo_has_opcode(in, "fusion") || hlo_has_opcode(in, "call")) &&
                   in->called_count && p->links[in->called] != HLO_NONE) {
            at = p->computations[p->links[in->called]].root;
        } else if (hlo_has_opcode(in, "while") && element >= 0) {
            at = invariant_of_loop(p, in, element);
        } else {
            if (element >= 0 && hlo_has_opcode(in, "parameter"))
                *carry = (hlo_carry){at, element};
            return element < 0 ? at : HLO_NONE;
        }
    }
    return HLO_NONE;
}
