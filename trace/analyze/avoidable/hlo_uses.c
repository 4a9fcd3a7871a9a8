#include "trace/analyze/avoidable/hlo_uses.h"

#include "trace/analyze/avoidable/hlo_keys.h"
#include "trace/analyze/avoidable/hlo_origin.h"
#include "trace/analyze/device/scopes.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/sums.h"

/* Fusions within fusions that are followed. */
#define NESTING_MAX 32
/* So much of a loop's FLOP is in another loop, too: permille. */
#define COVERED 900

typedef struct marks {
    const hlo_program *p;
    hlo_values *x;
    uint32_t *open; /* instructions whose operands have not been marked */
    size_t n;
} marks;

/* Marks what makes operand i, once. */
static void mark_operand(marks *m, const hlo_instr *in, uint32_t i, uint16_t any, uint16_t mark)
{
    hlo_carry carry;
    uint32_t at = i < in->operand_count ? m->p->links[in->operands + i] : HLO_NONE;
    at = at == HLO_NONE ? HLO_NONE : hlo_origin(m->p, m->x->caller, at, &carry);
    if (at == HLO_NONE || !(m->x->v[at].flags & any) || m->x->v[at].flags & mark)
        return;
    m->x->v[at].flags |= mark;
    m->open[m->n++] = at;
}

static void mark_lookups(marks *m)
{
    const uint16_t hot = VALUE_ONE_HOT | VALUE_IDENTITY;
    for (uint32_t at = 0; at < m->p->instr_count; at++) {
        const hlo_instr *in = &m->p->instrs[at];
        hlo_value *v = &m->x->v[at];
        if (!(v->flags & VALUE_PRODUCT))
            continue;
        for (uint32_t i = 0; i < 2; i++) {
            hlo_carry carry;
            uint32_t from = i < in->operand_count ? m->p->links[in->operands + i] : HLO_NONE;
            from = from == HLO_NONE ? from : hlo_origin(m->p, m->x->caller, from, &carry);
            if (from == HLO_NONE || !(m->x->v[from].flags & VALUE_ONE_HOT) ||
                m->x->v[from].width < HLO_LOOKUP_WIDTH)
                continue;
            v->flags |= VALUE_LOOKUP;
            mark_operand(m, in, i, hot, VALUE_LOOKUP);
        }
    }
    while (m->n) {
        const hlo_instr *in = &m->p->instrs[m->open[--m->n]];
        for (uint32_t i = 0; i < in->operand_count; i++)
            mark_operand(m, in, i, hot, VALUE_LOOKUP);
    }
}

static bool is_loop_body(const marks *m, uint32_t computation)
{
    uint32_t caller = m->x->caller[computation];
    return caller != HLO_NONE && hlo_has_opcode(&m->p->instrs[caller], "while");
}

/* Marks the results of a program, or what a loop carries to its next turn. */
static void mark_updated_results(marks *m, uint32_t root)
{
    hlo_carry carry;
    if (root == HLO_NONE)
        return;
    const hlo_instr *result = &m->p->instrs[root];
    if (hlo_has_opcode(result, "tuple")) {
        for (uint32_t i = 0; i < result->operand_count; i++)
            mark_operand(m, result, i, VALUE_FEW_ROWS, VALUE_UPDATE);
        return;
    }
    root = hlo_origin(m->p, m->x->caller, root, &carry);
    if (root != HLO_NONE && m->x->v[root].flags & VALUE_FEW_ROWS &&
        !(m->x->v[root].flags & VALUE_UPDATE)) {
        m->x->v[root].flags |= VALUE_UPDATE;
        m->open[m->n++] = root;
    }
}

static void mark_what_makes_updates(marks *m)
{
    while (m->n) {
        const hlo_instr *in = &m->p->instrs[m->open[--m->n]];
        uint16_t any = hlo_has_opcode(in, "scatter") ? VALUE_FEW_ROWS | VALUE_ZERO : VALUE_FEW_ROWS;
        for (uint32_t i = 0; i < in->operand_count; i++)
            mark_operand(m, in, i, any, VALUE_UPDATE);
    }
}

/* Sums over gradients of few rows, such as the norm by which they are clipped. */
static void mark_norms(marks *m)
{
    for (uint32_t at = 0; at < m->p->instr_count; at++) {
        const hlo_instr *in = &m->p->instrs[at];
        hlo_carry carry;
        if (!hlo_has_opcode(in, "reduce") || !in->operand_count)
            continue;
        uint32_t from = m->p->links[in->operands];
        from = from == HLO_NONE ? from : hlo_origin(m->p, m->x->caller, from, &carry);
        if (from == HLO_NONE || !(m->x->v[from].flags & VALUE_FEW_ROWS))
            continue;
        m->x->v[at].flags |= VALUE_UPDATE;
        mark_operand(m, in, 0, VALUE_FEW_ROWS, VALUE_UPDATE);
    }
}

static void mark_updates(marks *m)
{
    for (uint32_t c = 0; c < m->p->computation_count; c++)
        if (c == m->p->entry || is_loop_body(m, c))
            mark_updated_results(m, m->p->computations[c].root);
    bool any = m->n > 0;
    mark_what_makes_updates(m);
    if (any)
        mark_norms(m);
    mark_what_makes_updates(m);
}

/* ---- What is computed twice ---- */

static bool is_remat(const marks *m, uint32_t at)
{
    return scope_is_remat(m->p->instrs[at].op_name);
}

static bool is_product(const marks *m, uint32_t at)
{
    return m->x->v[at].flags & VALUE_PRODUCT;
}

/* Recomputed products of which the forward pass has as many: the compiler may have merged them with
 * those of the forward pass. The op names of merged ones don't tell. */
static int mark_recomputed(const marks *m)
{
    VP_CLEANUP(vp_map_free) vp_map forward = {0};
    bool products = false, recomputed = false;
    for (uint32_t at = 0; at < m->p->instr_count; at++) {
        if (!is_product(m, at) || is_remat(m, at))
            continue;
        uint64_t key = hlo_product_key(m->p, m->x, at, true);
        uint32_t n = vp_map_get(&forward, key);
        VP_TRY(vp_map_set(&forward, key, n == VP_MAP_NONE ? 1 : n + 1));
    }
    for (uint32_t at = 0; at < m->p->instr_count; at++) {
        if (!is_product(m, at) || !is_remat(m, at))
            continue;
        uint64_t key = hlo_product_key(m->p, m->x, at, true);
        uint32_t n = vp_map_get(&forward, key);
        products = true;
        if (n == VP_MAP_NONE || !n)
            continue;
        recomputed = true;
        m->x->v[at].flags |= VALUE_RECOMPUTED;
        VP_TRY(vp_map_set(&forward, key, n - 1));
    }
    for (uint32_t at = 0; at < m->p->instr_count && (recomputed || !products); at++)
        if (!is_product(m, at) && is_remat(m, at))
            m->x->v[at].flags |= VALUE_RECOMPUTED;
    return 0;
}

/* The computation whose ops the instructions of a computation are part of. */
static uint32_t owner_of(const marks *m, uint32_t computation)
{
    for (int i = 0; i < NESTING_MAX && m->p->computations[computation].fusion; i++) {
        uint32_t caller = m->x->caller[computation];
        if (caller == HLO_NONE)
            break;
        computation = m->p->instrs[caller].computation;
    }
    return computation;
}

/* FLOP of the products of a loop's body, and of those that another body computes from the same
 * values. */
typedef struct body_flops {
    int64_t all, repeated;
} body_flops;

static int add_loop_product(const marks *m, vp_map *first, body_flops *bodies, uint32_t at)
{
    uint32_t owner = owner_of(m, m->p->instrs[at].computation);
    if (!is_loop_body(m, owner))
        return 0;
    bodies[owner].all = vp_add_most(bodies[owner].all, m->x->v[at].flops);
    if (is_remat(m, at))
        return 0;
    const uint64_t pair[] = {m->x->v[at].key, hlo_product_key(m->p, m->x, at, false)};
    uint64_t key = vp_hash(pair, sizeof pair, 12);
    uint32_t other = vp_map_get(first, key);
    if (other == VP_MAP_NONE)
        return vp_map_set(first, key, owner);
    if (other != owner)
        bodies[owner].repeated = vp_add_most(bodies[owner].repeated, m->x->v[at].flops);
    return 0;
}

/* Loops of which another loop computes nearly all products, too. Without loops the compiler merges
 * equal instructions by itself. */
static int mark_repeated(const marks *m)
{
    VP_CLEANUP(vp_map_free) vp_map first = {0};
    VP_CLEANUP(vp_free_ptr)
    body_flops *bodies = vp_calloc(m->p->computation_count + 1, sizeof *bodies);
    VP_NEED(bodies);
    for (uint32_t at = 0; at < m->p->instr_count; at++)
        if (is_product(m, at))
            VP_TRY(add_loop_product(m, &first, bodies, at));
    for (uint32_t at = 0; at < m->p->instr_count; at++) {
        const body_flops *b = &bodies[owner_of(m, m->p->instrs[at].computation)];
        if (b->repeated > 0 && (__int128)b->repeated * 1000 >= (__int128)b->all * COVERED)
            m->x->v[at].flags |= VALUE_REPEATED;
    }
    return 0;
}

int hlo_uses_mark(const hlo_program *p, hlo_values *x)
{
    VP_CLEANUP(vp_free_ptr)
    uint32_t *open = vp_realloc_array(NULL, p->instr_count + 1, sizeof *open);
    VP_NEED(open);
    /* each instruction is marked once: its marks fit in as many places */
    marks m = {.p = p, .x = x, .open = open};
    mark_lookups(&m);
    mark_updates(&m);
    VP_TRY(mark_recomputed(&m));
    return mark_repeated(&m);
}
