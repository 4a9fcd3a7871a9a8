#include "trace/analyze/avoidable/avoidable.h"

#include <stdio.h>

#include "trace/analyze/avoidable/argument_copies.h"
#include "trace/analyze/avoidable/hlo_batches.h"
#include "trace/analyze/avoidable/hlo_shares.h"
#include "trace/analyze/avoidable/repeated_programs.h"
#include "trace/analyze/avoidable/callback_inputs.h"
#include "trace/analyze/device/hygiene.h"
#include "trace/analyze/device/ops.h"
#include "trace/analyze/mfu/hlo_cost.h"
#include "trace/analyze/result/programs.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/sums.h"
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
#define PS_PER_S INT64_C(1000000000000)
/* A call that is shorter is small: its overhead is a large part of it. */
#define SMALL_PS INT64_C(10000000)
/* So many small ops of equal shape are worth one batched op. */
#define BATCH_LEAST 8u
#define NAME_MAX_BYTES 100u

static int64_t permille_of_ps(int64_t ps, uint16_t permille)
{
    return (int64_t)((__int128)ps * permille / 1000);
}

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
    int64_t moved, other; /* weights: of the largest change of layout, and of other instructions */
} fused;

static void add_instruction(fused *f, const known_program *k, uint32_t at, int64_t whole)
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
    const hlo_instr *in = &k->p->instrs[at];
    int64_t weight = hlo_weight_of(k->p, &k->values.v[at], in);
    if (changes_layout(k->p, in)) {
        f->layout = f->layout || weight >= whole;
        f->moved = weight > f->moved ? weight : f->moved;
    } else {
        f->other = vp_add_most(f->other, weight);
    }
    f->arithmetic = f->arithmetic || hlo_has_any_opcode(in, combine);
    f->slow = f->slow || hlo_is_slow(in);
}

static fused look_into(const known_program *k, uint32_t at)
{
    const hlo_program *p = k->p;
    const hlo_instr *in = &p->instrs[at];
    int64_t whole = in->shape == HLO_NONE ? 0 : hlo_shape_elements(p, in->shape);
    fused f = {0};
    if (!hlo_has_opcode(in, "fusion"))
        add_instruction(&f, k, at, whole);
    for (uint32_t c = 0; hlo_has_opcode(in, "fusion") && c < in->called_count; c++) {
        uint32_t body = p->links[in->called + c];
        for (uint32_t i = 0; body != HLO_NONE && i < p->computations[body].count; i++)
            add_instruction(&f, k, p->computations[body].first + i, whole);
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

/* An op, by kind. */
typedef struct kind_facts {
    hlo_shares shares;
    uint16_t layout; /* of 1000: what a fusion that changes the layout spends on that */
    uint32_t batch;  /* equal ops that one batched op could replace; 0: unknown */
    int64_t flops;
    uint8_t traits;
} kind_facts;

static void set_traits(kind_facts *out, const known_program *k, uint32_t at, bool formatting)
{
    const hlo_program *p = k->p;
    const hlo_instr *in = &p->instrs[at];
    const fused f = look_into(k, at);
    bool plain = keeps_layout(p, in);
    uint8_t traits = SEEN | KNOWN;
    traits |= computes_in(p, in, HLO_TYPE_F64) ? FLOAT64 : 0;
    traits |= !formatting && f.layout && !f.arithmetic ? FUSED_LAYOUT : 0;
    traits |= plain ? PLAIN_COPY : 0;
    traits |= plain && copies_argument(p, in) ? ARGUMENT_COPY : 0;
    traits |= !formatting && !plain && !f.layout && !f.arithmetic && !f.slow ? ELEMENTWISE : 0;
    traits |= k->callback_input && k->callback_input[at] ? CALLBACK_INPUT : 0;
    out->traits = traits;
    out->layout = hlo_permille_of(f.moved, vp_add_most(f.moved, f.other));
}

typedef struct work {
    analysis *a;
    kind_facts *kinds;       /* by kind */
    known_program *programs; /* by program of the trace */
    uint32_t *op_of;         /* scratch by group */
    uint32_t *row_of;        /* scratch by kind (argument_copies.h) */
    uint8_t *is_copy;        /* by kind: it copies an argument */
} work;

static int known_program_get(known_program **out, work *w, uint32_t i)
{
    known_program *k = &w->programs[i];
    *out = k;
    if (k->p)
        return 0;
    VP_TRY(programs_get(&k->p, w->a, i));
    if (!k->p)
        return 0;
    VP_TRY(hlo_values_new(&k->values, k->p));
    VP_TRY(callback_inputs_new(&k->callback_input, k->p));
    return hlo_batches_new(&k->batch, k->p, &k->values);
}

static int facts_of_kind(kind_facts *out, work *w, uint32_t kind)
{
    const trace *t = w->a->t;
    const trace_kind *k = &t->kinds[kind];
    known_program *program = NULL;
    out->traits = SEEN;
    if (!k->hlo_op)
        return 0;
    uint32_t i = trace_find_program(t, k->program_id);
    if (i < t->program_count)
        VP_TRY(known_program_get(&program, w, i));
    const hlo_program *p = program ? program->p : NULL;
    uint32_t at = p ? hlo_program_find(p, hlo_innermost(trace_str(t, k->hlo_op))) : HLO_NONE;
    if (at == HLO_NONE)
        return 0;
    set_traits(out, program, at, op_is_formatting(t, k));
    w->is_copy[kind] = (out->traits & ARGUMENT_COPY) != 0;
    out->shares = hlo_shares_of(p, &program->values, at);
    out->batch = program->batch[at];
    out->flops = hlo_cost_of(p, at).flops;
    return 0;
}

/* FLOP per second of the fastest op of the device whose calls take much longer than their overhead;
 * 0: there is none. */
static int64_t best_rate(const kind_list *l, const kind_facts *kinds)
{
    int64_t best = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        const kind_facts *f = &kinds[l->kind[i]];
        int64_t each = l->calls[i] > 0 ? l->self_ps[i] / l->calls[i] : 0;
        if (each <= SMALL_PS || f->flops <= 0 || f->batch >= BATCH_LEAST)
            continue;
        __int128 rate = (__int128)f->flops * PS_PER_S / each;
        best = rate > best && rate < INT64_MAX ? (int64_t)rate : best;
    }
    return best;
}

/* n small ops of equal shape as one: it takes at least as long as one of them, and as their FLOP at
 * the best rate that a larger op of the device reaches. */
static int64_t unrolled_ps(const kind_facts *f, int64_t self_ps, int64_t calls, int64_t rate)
{
    if (f->batch < BATCH_LEAST || calls <= 0 || self_ps / calls > SMALL_PS)
        return 0;
    int64_t least = self_ps / f->batch;
    __int128 least_work = rate > 0 ? (__int128)f->flops * calls * PS_PER_S / rate : 0;
    if (least_work > self_ps)
        return 0;
    return self_ps - (least_work > least ? (int64_t)least_work : least);
}

static void add_kind(vp_avoidable *x, const kind_facts *f, int64_t self_ps)
{
    x->known_ps += f->traits & KNOWN ? self_ps : 0;
    x->float64_ps += f->traits & FLOAT64 ? self_ps : 0;
    x->fused_layout_ps += f->traits & FUSED_LAYOUT ? permille_of_ps(self_ps, f->layout) : 0;
    x->plain_copy_ps += f->traits & PLAIN_COPY ? self_ps : 0;
    x->elementwise_ps += f->traits & ELEMENTWISE ? self_ps : 0;
    x->argument_copy_ps += f->traits & ARGUMENT_COPY ? self_ps : 0;
    x->callback_input_ps += f->traits & CALLBACK_INPUT ? self_ps : 0;
    x->lookup_ps += permille_of_ps(self_ps, f->shares.lookup);
    x->update_ps += permille_of_ps(self_ps, f->shares.update);
    x->recomputed_ps += permille_of_ps(self_ps, f->shares.recomputed);
    x->repeated_ps += permille_of_ps(self_ps, f->shares.repeated);
}

/* "train.<locals>.loss" → "loss"; "loss.<locals>.<listcomp>" → "loss". */
static vp_str innermost_function(vp_str name)
{
    const vp_str locals = VP_STR("<locals>.");
    vp_str outer = VP_STR_NONE;
    for (size_t end; (end = vp_str_find(name, locals)) < name.n;) {
        outer = vp_str_head(name, end ? end - 1 : 0);
        name = vp_str_skip(name, end + locals.n);
    }
    return outer.n && vp_str_starts(name, VP_STR("<")) ? outer : name;
}

/* "loss (train.py:12)": the function of an op's source line, which one of its kinds has. */
static int set_caller(work *w, vp_op *op, uint32_t kind)
{
    const trace *t = w->a->t;
    const trace_kind *k = &t->kinds[kind];
    uint32_t i = trace_find_program(t, k->program_id);
    const hlo_program *p = i < t->program_count ? w->programs[i].p : NULL;
    vp_str source = trace_str(t, k->source), name = VP_STR_NONE;
    if (op->caller || !p || !source.n || !vp_str_eq(source, vp_str_of(op->source)))
        return 0;
    uint32_t at = hlo_program_find(p, hlo_innermost(trace_str(t, k->hlo_op)));
    name = at == HLO_NONE ? name : p->instrs[at].source_function;
    name = innermost_function(name);
    if (!name.n || vp_str_eq(name, VP_STR("<module>")))
        return 0;
    size_t slash = vp_str_rfind_char(source, '/');
    vp_str file = slash < source.n ? vp_str_skip(source, slash + 1) : source;
    char text[2 * NAME_MAX_BYTES + 8];
    snprintf(text, sizeof text, "%.*s (%.*s)", VP_STR_CUT(name, NAME_MAX_BYTES),
             VP_STR_CUT(file, NAME_MAX_BYTES));
    return host_text(&op->caller, w->a->h, vp_str_of(text));
}

static int slow_ops_by_copies(work *w, uint32_t d)
{
    const kind_list *l = &w->a->devices[d].times;
    bool any = false;
    for (uint32_t i = 0; i < l->n; i++)
        any = any || w->is_copy[l->kind[i]];
    return any && w->a->h->devices[d].kind == VP_DEVICE_CPU
               ? argument_copies_slow(w->a, d, w->is_copy, w->row_of, w->op_of)
               : 0;
}

static int add_device(work *w, uint32_t d)
{
    const kind_list *l = &w->a->devices[d].times;
    const uint32_t *group_of = grouping_groups(w->a->g);
    ops_by_group_in(w->op_of, w->a, d);
    for (uint32_t i = 0; i < l->n; i++)
        if (w->kinds[l->kind[i]].traits == NOT_SEEN)
            VP_TRY(facts_of_kind(&w->kinds[l->kind[i]], w, l->kind[i]));
    int64_t rate = best_rate(l, w->kinds);
    for (uint32_t i = 0; i < l->n; i++) {
        const kind_facts *f = &w->kinds[l->kind[i]];
        vp_op *op = &w->a->h->ops[w->op_of[group_of[l->kind[i]]]];
        add_kind(&op->avoidable, f, l->self_ps[i]);
        op->avoidable.unrolled_ps += unrolled_ps(f, l->self_ps[i], l->calls[i], rate);
        VP_TRY(set_caller(w, op, l->kind[i]));
    }
    return slow_ops_by_copies(w, d);
}

static int collect_all(work *w)
{
    const trace *t = w->a->t;
    w->kinds = vp_calloc((size_t)t->kind_count + 1, sizeof *w->kinds);
    w->programs = vp_calloc((size_t)t->program_count + 1, sizeof *w->programs);
    w->op_of = vp_realloc_array(NULL, (size_t)grouping_count(w->a->g) + 1, sizeof *w->op_of);
    w->row_of = vp_realloc_array(NULL, (size_t)t->kind_count + 1, sizeof *w->row_of);
    w->is_copy = vp_calloc((size_t)t->kind_count + 1, 1);
    VP_NEED(w->kinds && w->programs && w->op_of && w->row_of && w->is_copy);
    for (uint32_t i = 0; i < t->kind_count; i++)
        w->row_of[i] = VP_MAP_NONE;
    for (uint32_t d = 0; d < w->a->device_count; d++)
        VP_TRY(add_device(w, d));
    return repeated_programs_collect(w->a, w->programs);
}

int avoidable_collect(analysis *a)
{
    work w = {.a = a};
    if (!a->h->has_devices || !a->t->program_count)
        return 0;
    int rc = collect_all(&w);
    for (uint32_t i = 0; w.programs && i < a->t->program_count; i++) {
        hlo_values_free(&w.programs[i].values);
        vp_free(w.programs[i].batch);
        vp_free(w.programs[i].callback_input);
    }
    vp_free(w.kinds);
    vp_free(w.programs);
    vp_free(w.op_of);
    vp_free(w.row_of);
    vp_free(w.is_copy);
    return rc;
}
