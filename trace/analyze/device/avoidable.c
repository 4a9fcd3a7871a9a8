#include "trace/analyze/device/avoidable.h"

#include "trace/analyze/device/callback_inputs.h"
#include "trace/analyze/device/hygiene.h"
#include "trace/analyze/device/ops.h"
#include "trace/analyze/result/programs.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/read/hlo/hlo_shape.h"
#include "trace/read/semantics/hlo.h"
#include "trace/read/semantics/hlo_types.h"

enum {
    NOT_SEEN = 0,
    SEEN = 1 << 0,
    KNOWN = 1 << 1,
    FLOAT64 = 1 << 2,
    FUSED_LAYOUT = 1 << 3,
    PLAIN_COPY = 1 << 4,
    ARGUMENT_COPY = 1 << 5,
    ELEMENTWISE = 1 << 6,
    CALLBACK_INPUT = 1 << 7
};

/* Views between a copy and the parameter that it copies. */
#define VIEWS_MAX 8

static bool has_type(const hlo_program *p, uint32_t shape, uint16_t type)
{
    if (shape == HLO_NONE)
        return false;
    const hlo_shape *s = &p->shapes[shape];
    for (uint32_t i = 0; i < s->leaf_count; i++)
        if (p->shapes[s->leaves + i].type == type)
            return true;
    return s->type == type;
}

static bool computes_in(const hlo_program *p, const hlo_instr *in, uint16_t type)
{
    bool found = has_type(p, in->shape, type);
    for (uint32_t i = 0; i < in->operand_count && !found; i++) {
        const hlo_instr *x = hlo_operand(p, in, i);
        found = x && has_type(p, x->shape, type);
    }
    return found;
}

static bool same_layout(const hlo_program *p, uint32_t a, uint32_t b)
{
    if (a == HLO_NONE || b == HLO_NONE)
        return false;
    const hlo_shape *x = &p->shapes[a], *y = &p->shapes[b];
    if (x->rank != y->rank || x->layout == HLO_NONE || y->layout == HLO_NONE)
        return x->rank == y->rank && x->layout == y->layout;
    for (uint32_t i = 0; i < x->rank; i++)
        if (p->numbers[x->layout + i] != p->numbers[y->layout + i])
            return false;
    return true;
}

/* A transpose, or a copy into another layout. */
static bool changes_layout(const hlo_program *p, const hlo_instr *in)
{
    const hlo_instr *from = hlo_operand(p, in, 0);
    if (hlo_has_opcode(in, "transpose"))
        return true;
    return hlo_has_opcode(in, "copy") && from && !same_layout(p, in->shape, from->shape);
}

/* What the instructions of a fusion do. */
typedef struct fused {
    bool layout;     /* one of them changes the layout of at least as many elements as result */
    bool arithmetic; /* some combine elements of different places: products, reductions, … */
    bool slow;       /* some take longer than to read their operands */
} fused;

static void add_instruction(fused *f, const hlo_program *p, const hlo_instr *in, int64_t whole)
{
    static const char *const combine[] = {"dot",
                                          "convolution",
                                          "reduce",
                                          "reduce-window",
                                          "scatter",
                                          "gather",
                                          "sort",
                                          "custom-call",
                                          "while",
                                          "conditional",
                                          "call",
                                          "rng",
                                          "fft",
                                          "cholesky",
                                          "dynamic-update-slice",
                                          "select-and-scatter",
                                          "triangular-solve",
                                          NULL};
    static const char *const slow[] = {
        "sine", "cosine",       "tan",      "tanh", "exponential",
        "log",  "power",        "atan2",    "erf",  "exponential-minus-one",
        "cbrt", "log-plus-one", "logistic", NULL};
    f->layout = f->layout || (changes_layout(p, in) && in->shape != HLO_NONE &&
                              hlo_shape_elements(p, in->shape) >= whole);
    f->arithmetic = f->arithmetic || hlo_has_any_opcode(in, combine);
    f->slow = f->slow || hlo_has_any_opcode(in, slow);
}

static fused look_into(const hlo_program *p, const hlo_instr *in)
{
    int64_t whole = in->shape == HLO_NONE ? 0 : hlo_shape_elements(p, in->shape);
    fused f = {0};
    if (!hlo_has_opcode(in, "fusion"))
        add_instruction(&f, p, in, whole);
    for (uint32_t c = 0; hlo_has_opcode(in, "fusion") && c < in->called_count; c++) {
        uint32_t at = p->links[in->called + c];
        for (uint32_t i = 0; at != HLO_NONE && i < p->computations[at].count; i++)
            add_instruction(&f, p, &p->instrs[p->computations[at].first + i], whole);
    }
    return f;
}

static bool keeps_layout(const hlo_program *p, const hlo_instr *in)
{
    const hlo_instr *from = hlo_operand(p, in, 0);
    return hlo_has_opcode(in, "copy") && from && same_layout(p, in->shape, from->shape);
}

/* The operand is a parameter of the program, whose memory may not be overwritten. */
static bool copies_argument(const hlo_program *p, const hlo_instr *in)
{
    const hlo_instr *from = hlo_operand(p, in, 0);
    if (in->computation != p->entry)
        return false;
    for (int i = 0; i < VIEWS_MAX && from; i++) {
        if (hlo_has_opcode(from, "parameter"))
            return true;
        if (!hlo_has_opcode(from, "bitcast") && !hlo_has_opcode(from, "get-tuple-element"))
            return false;
        from = hlo_operand(p, from, 0);
    }
    return false;
}

static uint8_t traits_of(const hlo_program *p, const hlo_instr *in, bool formatting)
{
    const fused f = look_into(p, in);
    bool plain = keeps_layout(p, in);
    uint8_t traits = SEEN | KNOWN;
    traits |= computes_in(p, in, HLO_TYPE_F64) ? FLOAT64 : 0;
    traits |= !formatting && f.layout && !f.arithmetic ? FUSED_LAYOUT : 0;
    traits |= plain ? PLAIN_COPY : 0;
    traits |= plain && copies_argument(p, in) ? ARGUMENT_COPY : 0;
    traits |= !formatting && !plain && !f.layout && !f.arithmetic && !f.slow ? ELEMENTWISE : 0;
    return traits;
}

/* The traits of kinds, as far as they are known. */
typedef struct trait_list {
    uint8_t *of_kind;
    uint8_t **fed; /* by program: callback_inputs.h */
    bool *asked;   /* by program */
} trait_list;

static int is_callback_input(bool *out, trait_list *l, uint32_t program, const hlo_program *p,
                             uint32_t at)
{
    if (!l->asked[program])
        VP_TRY(callback_inputs_new(&l->fed[program], p));
    l->asked[program] = true;
    *out = l->fed[program] && l->fed[program][at];
    return 0;
}

static int traits_of_kind(trait_list *list, analysis *a, uint32_t kind)
{
    uint8_t *out = &list->of_kind[kind];
    bool fed = false;
    const trace_kind *k = &a->t->kinds[kind];
    const hlo_program *p = NULL;
    *out = SEEN;
    if (!k->hlo_op)
        return 0;
    uint32_t i = trace_find_program(a->t, k->program_id);
    if (i < a->t->program_count)
        VP_TRY(programs_get(&p, a, i));
    uint32_t at = p ? hlo_program_find(p, hlo_innermost(trace_str(a->t, k->hlo_op))) : HLO_NONE;
    if (at == HLO_NONE)
        return 0;
    VP_TRY(is_callback_input(&fed, list, i, p, at));
    *out = traits_of(p, &p->instrs[at], op_is_formatting(a->t, k));
    *out |= fed ? CALLBACK_INPUT : 0;
    return 0;
}

static int add_device(analysis *a, uint32_t d, trait_list *list, uint32_t *op_of)
{
    const uint8_t *traits = list->of_kind;
    const kind_list *l = &a->devices[d].times;
    const uint32_t *group_of = grouping_groups(a->g);
    ops_by_group_in(op_of, a, d);
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t kind = l->kind[i];
        if (traits[kind] == NOT_SEEN)
            VP_TRY(traits_of_kind(list, a, kind));
        vp_avoidable *x = &a->h->ops[op_of[group_of[kind]]].avoidable;
        x->known_ps += traits[kind] & KNOWN ? l->self_ps[i] : 0;
        x->float64_ps += traits[kind] & FLOAT64 ? l->self_ps[i] : 0;
        x->fused_layout_ps += traits[kind] & FUSED_LAYOUT ? l->self_ps[i] : 0;
        x->plain_copy_ps += traits[kind] & PLAIN_COPY ? l->self_ps[i] : 0;
        x->elementwise_ps += traits[kind] & ELEMENTWISE ? l->self_ps[i] : 0;
        x->argument_copy_ps += traits[kind] & ARGUMENT_COPY ? l->self_ps[i] : 0;
        x->callback_input_ps += traits[kind] & CALLBACK_INPUT ? l->self_ps[i] : 0;
    }
    return 0;
}

static int add_devices(analysis *a, trait_list *list)
{
    VP_CLEANUP(vp_free_ptr)
    uint32_t *op_of = vp_realloc_array(NULL, (size_t)grouping_count(a->g) + 1, sizeof *op_of);
    size_t programs = (size_t)a->t->program_count + 1;
    list->of_kind = vp_calloc((size_t)a->t->kind_count + 1, 1);
    list->fed = vp_calloc(programs, sizeof *list->fed);
    list->asked = vp_calloc(programs, sizeof *list->asked);
    VP_NEED(op_of && list->of_kind && list->fed && list->asked);
    for (uint32_t d = 0; d < a->device_count; d++)
        VP_TRY(add_device(a, d, list, op_of));
    return 0;
}

int avoidable_collect(analysis *a)
{
    trait_list list = {0};
    if (!a->h->has_devices || !a->t->program_count)
        return 0;
    int rc = add_devices(a, &list);
    for (uint32_t i = 0; list.fed && i < a->t->program_count; i++)
        vp_free(list.fed[i]);
    vp_free(list.of_kind);
    vp_free(list.fed);
    vp_free(list.asked);
    return rc;
}
