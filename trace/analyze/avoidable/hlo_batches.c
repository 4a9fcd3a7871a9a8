#include "trace/analyze/avoidable/hlo_batches.h"

#include "trace/analyze/avoidable/hlo_origin.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* Whole arguments of the program are its operands, as in an optimizer's update of each parameter:
 * one op for all would have to copy them together. */
static bool reads_whole_arguments(const hlo_program *p, const hlo_values *x, const hlo_instr *in)
{
    for (uint32_t i = 0; i < in->operand_count; i++) {
        hlo_carry carry;
        uint32_t at = p->links[in->operands + i];
        at = at == HLO_NONE ? at : hlo_origin(p, x->caller, at, &carry);
        if (at == HLO_NONE)
            return false;
        const hlo_instr *from = &p->instrs[at];
        bool scalar = hlo_elements_of(p, from) <= 1;
        if (!scalar && (!hlo_has_opcode(from, "parameter") ||
                        hlo_elements_of(p, from) > hlo_elements_of(p, in)))
            return false;
    }
    return true;
}

/* What is no op of its own: it does no work, or others do it. */
static bool is_op(const hlo_program *p, const hlo_values *x, const hlo_instr *in)
{
    static const char *const nothing[] = {"parameter",         "constant", "tuple",
                                          "get-tuple-element", "bitcast",  "while",
                                          "conditional",       "call",     NULL};
    return !p->computations[in->computation].fusion && !hlo_has_any_opcode(in, nothing) &&
           !reads_whole_arguments(p, x, in);
}

static uint64_t shape_key(const hlo_program *p, uint32_t shape, uint64_t key)
{
    if (shape == HLO_NONE)
        return key;
    const hlo_shape *s = &p->shapes[shape];
    const uint64_t type[] = {key, s->type, s->leaf_count};
    key = vp_hash(type, sizeof type, 2);
    return vp_hash(p->numbers + s->dims, s->rank * sizeof *p->numbers, key);
}

/* Names of equal instructions differ by a number: "fusion.12". Scopes may count, too: "layer_3". */
static uint64_t text_key(vp_str s, uint64_t key)
{
    char text[256];
    size_t n = 0;
    for (size_t i = 0; i < s.n && n < sizeof text; i++)
        if ((s.p[i] < '0' || s.p[i] > '9') && s.p[i] != '.')
            text[n++] = s.p[i];
    return vp_hash(text, n, key);
}

static uint64_t batch_key(const hlo_program *p, const hlo_values *x, uint32_t at)
{
    const hlo_instr *in = &p->instrs[at];
    const uint64_t place[] = {in->computation, x->v[at].depth, (uint64_t)in->source_line};
    uint64_t key = vp_hash(place, sizeof place, 3);
    key = text_key(in->name, key);
    key = text_key(in->op_name, key);
    key = vp_hash(in->source_file.p, in->source_file.n, key);
    key = shape_key(p, in->shape, key);
    for (uint32_t i = 0; i < in->operand_count; i++) {
        const hlo_instr *from = hlo_operand(p, in, i);
        key = shape_key(p, from ? from->shape : HLO_NONE, key);
    }
    return key;
}

int hlo_batches_new(uint32_t **out, const hlo_program *p, const hlo_values *x)
{
    VP_CLEANUP(vp_map_free) vp_map map = {0};
    VP_CLEANUP(vp_free_ptr)
    uint64_t *key = vp_calloc(p->instr_count + 1, sizeof *key);
    *out = vp_calloc(p->instr_count + 1, sizeof **out);
    VP_NEED(*out && key);
    for (uint32_t i = 0; i < p->instr_count; i++) {
        if (!is_op(p, x, &p->instrs[i]))
            continue;
        key[i] = batch_key(p, x, i);
        uint32_t n = vp_map_get(&map, key[i]);
        VP_TRY(vp_map_set(&map, key[i], n == VP_MAP_NONE ? 1 : n + 1));
    }
    for (uint32_t i = 0; i < p->instr_count; i++)
        (*out)[i] = key[i] ? vp_map_get(&map, key[i]) : 0;
    return 0;
}
