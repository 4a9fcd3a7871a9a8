#include "trace/analyze/memory/static_unused.h"

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/sums.h"

bool hlo_is_view(vp_str op)
{
    return vp_str_eq(op, VP_STR("bitcast")) || vp_str_eq(op, VP_STR("get-tuple-element")) ||
           vp_str_eq(op, VP_STR("tuple")) || vp_str_eq(op, VP_STR("optimization-barrier"));
}

static bool is_working_op(vp_str op)
{
    return !hlo_is_view(op) && !vp_str_eq(op, VP_STR("parameter")) &&
           !vp_str_eq(op, VP_STR("constant"));
}

/* The index of an instruction within the entry; false if it is in another computation. */
static bool place_in_entry(const unused_times *t, uint32_t instr, uint32_t *at)
{
    *at = instr - t->c->first;
    return instr != HLO_NONE && instr >= t->c->first && *at < t->c->count;
}

/* The instruction of the entry that runs a computation, at any depth; each is visited once. */
typedef struct owners {
    uint32_t *of;    /* by computation: place in the entry; HLO_NONE */
    uint32_t *stack; /* computations to look into */
    size_t n;
} owners;

static void own_called_computations(owners *o, const hlo_program *p, const hlo_instr *in,
                                    uint32_t by)
{
    for (uint32_t k = 0; k < in->called_count; k++) {
        uint32_t c = p->links[in->called + k];
        if (c == HLO_NONE || o->of[c] != HLO_NONE || c == p->entry)
            continue;
        o->of[c] = by;
        o->stack[o->n++] = c;
    }
}

static void weigh_entry_op(unused_times *t, owners *o, uint32_t by)
{
    const hlo_program *p = t->p;
    const hlo_instr *in = &p->instrs[t->c->first + by];
    t->weight[by] = is_working_op(in->opcode);
    own_called_computations(o, p, in, by);
    while (o->n) {
        const hlo_computation *c = &p->computations[o->stack[--o->n]];
        for (uint32_t i = 0; i < c->count; i++) {
            const hlo_instr *inner = &p->instrs[c->first + i];
            t->weight[by] += !c->fusion && is_working_op(inner->opcode);
            own_called_computations(o, p, inner, by);
        }
    }
}

/* The start of the peak's instruction, or of the one that runs it; -1: not run by the entry. */
static int64_t find_peak_start(const unused_times *t, const owners *o, vp_str name)
{
    uint32_t i = hlo_program_find(t->p, name), at;
    if (i == HLO_NONE)
        return -1;
    if (!place_in_entry(t, i, &at))
        at = o->of[t->p->instrs[i].computation];
    return at == HLO_NONE ? -1 : t->start[at];
}

static void note_value_use(unused_times *t, uint32_t value, int64_t before, int64_t after)
{
    t->before[value] = before > t->before[value] ? before : t->before[value];
    t->after[value] = after < t->after[value] ? after : t->after[value];
}

/* Users follow their operands, so a backward pass knows the users of each view. */
static void find_uses(unused_times *t, int64_t peak)
{
    for (uint32_t i = 0; i < t->c->count; i++) {
        t->before[i] = t->start[i] <= peak ? t->start[i] + t->weight[i] : 0;
        t->after[i] = t->all;
    }
    for (uint32_t i = t->c->count; i-- > 0;) {
        const hlo_instr *in = &t->p->instrs[t->c->first + i];
        bool view = hlo_is_view(in->opcode);
        int64_t before = view ? t->before[i] : t->start[i] <= peak ? t->start[i] + t->weight[i] : 0;
        int64_t after = view ? t->after[i] : t->start[i] >= peak ? t->start[i] : t->all;
        for (uint32_t k = 0, at; k < in->operand_count; k++)
            if (place_in_entry(t, t->p->links[in->operands + k], &at))
                note_value_use(t, at, before, after);
    }
}

static void unused_times_run(unused_times *t, owners *o, vp_str name)
{
    const hlo_program *p = t->p;
    uint32_t at;
    for (size_t i = 0; i < p->computation_count; i++)
        o->of[i] = HLO_NONE;
    for (uint32_t i = 0; i < t->c->count; i++)
        weigh_entry_op(t, o, i);
    for (uint32_t i = 0; i < t->c->order_count; i++)
        if (place_in_entry(t, p->links[t->c->order + i], &at)) {
            t->start[at] = t->all;
            t->all = vp_add_most(t->all, t->weight[at]);
        }
    int64_t peak = find_peak_start(t, o, name);
    if (peak < 0)
        t->c = NULL;
    else
        find_uses(t, peak);
}

int unused_times_make(unused_times *t, const hlo_program *p, vp_str peak)
{
    *t = (unused_times){.p = p};
    if (!peak.n || p->entry == HLO_NONE || !p->computations[p->entry].order_count)
        return 0;
    t->c = &p->computations[p->entry];
    size_t n = (size_t)t->c->count + 1;
    t->start = vp_calloc(n, sizeof *t->start);
    t->weight = vp_calloc(n, sizeof *t->weight);
    t->before = vp_calloc(n, sizeof *t->before);
    t->after = vp_calloc(n, sizeof *t->after);
    owners o = {.of = vp_calloc(p->computation_count + 1, sizeof *o.of),
                .stack = vp_calloc(p->computation_count + 1, sizeof *o.stack)};
    int rc = t->start && t->weight && t->before && t->after && o.of && o.stack ? 0 : vp_no_memory();
    if (rc >= 0)
        unused_times_run(t, &o, peak);
    vp_free(o.of);
    vp_free(o.stack);
    return rc;
}

void unused_times_free(unused_times *t)
{
    vp_free(t->start);
    vp_free(t->weight);
    vp_free(t->before);
    vp_free(t->after);
}

int64_t unused_times_of(const unused_times *t, uint32_t buffer)
{
    uint32_t at;
    if (!t->c || buffer == HLO_NONE || !place_in_entry(t, t->p->buffers[buffer].instr, &at))
        return -1;
    return t->after[at] > t->before[at] ? t->after[at] - t->before[at] : 0;
}
