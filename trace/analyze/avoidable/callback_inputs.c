#include "trace/analyze/avoidable/callback_inputs.h"

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/read/semantics/hlo_types.h"

enum { FEEDS = 1 << 0, LIVE = 1 << 1 };

static bool is_token_or_empty(const hlo_program *p, uint32_t shape)
{
    if (shape == HLO_NONE)
        return false;
    const hlo_shape *s = &p->shapes[shape];
    bool empty = s->type == HLO_TYPE_TUPLE;
    for (uint32_t i = 0; i < s->leaf_count; i++)
        empty = empty && p->shapes[s->leaves + i].type == HLO_TYPE_TOKEN;
    return empty || s->type == HLO_TYPE_TOKEN;
}

/* A call into Python whose result is not read: without it, what feeds it is not needed. */
static bool is_callback_without_result(const hlo_program *p, const hlo_instr *in)
{
    return hlo_has_opcode(in, "custom-call") && is_token_or_empty(p, in->shape) &&
           vp_str_find(in->custom_call_target, VP_STR("callback")) < in->custom_call_target.n;
}

/* Operands precede users, so one pass from the end sees all users of an instruction before it. */
static void mark_computation(uint8_t *state, const hlo_program *p, const hlo_computation *c)
{
    for (uint32_t i = c->count; i-- > 0;) {
        uint32_t at = c->first + i;
        const hlo_instr *in = &p->instrs[at];
        bool callback = is_callback_without_result(p, in);
        if (!callback && (at == c->root || !state[at]))
            state[at] |= LIVE;
        uint8_t passed = callback || !(state[at] & LIVE) ? FEEDS : LIVE;
        for (uint32_t k = 0; k < in->operand_count; k++) {
            uint32_t operand = p->links[in->operands + k];
            if (operand != HLO_NONE)
                state[operand] |= passed;
        }
    }
}

int callback_inputs_new(uint8_t **out, const hlo_program *p)
{
    bool any = false;
    *out = NULL;
    for (size_t i = 0; i < p->instr_count && !any; i++)
        any = is_callback_without_result(p, &p->instrs[i]);
    if (!any)
        return 0;
    *out = vp_calloc(p->instr_count + 1, 1);
    VP_NEED(*out);
    for (size_t c = 0; c < p->computation_count; c++)
        mark_computation(*out, p, &p->computations[c]);
    for (size_t i = 0; i < p->instr_count; i++)
        (*out)[i] = (*out)[i] == FEEDS;
    return 0;
}
