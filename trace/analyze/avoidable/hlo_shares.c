#include "trace/analyze/avoidable/hlo_shares.h"

#include "trace/base/sums.h"

/* Elements that take as long as one value of a transcendental function. */
#define SLOW_WEIGHT 16
#define CALLS_MAX 16u
/* Instructions of a body that are looked at. */
#define BODY_MAX 200000u

bool hlo_is_slow(const hlo_instr *in)
{
    static const char *const slow[] = {
        "sine", "cosine",       "tan",      "tanh", "exponential",
        "log",  "power",        "atan2",    "erf",  "exponential-minus-one",
        "cbrt", "log-plus-one", "logistic", NULL};
    return hlo_has_any_opcode(in, slow);
}

int64_t hlo_weight_of(const hlo_program *p, const hlo_value *v, const hlo_instr *in)
{
    static const char *const nothing[] = {"parameter", "constant", "tuple",  "get-tuple-element",
                                          "bitcast",   "iota",     "fusion", "broadcast",
                                          "call",      "while",    NULL};
    static const char *const reads_all[] = {"reduce", "reduce-window", "sort", NULL};
    if (v->flags & VALUE_PRODUCT)
        return v->flops;
    if (hlo_has_any_opcode(in, nothing))
        return 0;
    if (hlo_has_any_opcode(in, reads_all))
        return hlo_elements_of(p, hlo_operand(p, in, 0));
    if (hlo_has_opcode(in, "scatter"))
        return hlo_elements_of(p, hlo_operand(p, in, 2));
    if (hlo_has_opcode(in, "dynamic-update-slice"))
        return hlo_elements_of(p, hlo_operand(p, in, 1));
    int64_t n = hlo_elements_of(p, in);
    return hlo_is_slow(in) ? vp_add_most(n, n > INT64_MAX / SLOW_WEIGHT ? n : n * (SLOW_WEIGHT - 1))
                           : n;
}

/* Weights of all instructions of a body, and of those of each kind. */
typedef struct weights {
    const hlo_program *p;
    const hlo_values *x;
    int64_t all, lookup, update, recomputed, repeated;
    uint32_t open[CALLS_MAX];
    size_t n;
} weights;

static void add_weight(weights *w, uint32_t at, int64_t weight)
{
    const hlo_instr *in = &w->p->instrs[at];
    uint16_t flags = w->x->v[at].flags;
    w->all = vp_add_most(w->all, weight);
    w->lookup = vp_add_most(w->lookup, flags & VALUE_LOOKUP ? weight : 0);
    w->update =
        vp_add_most(w->update, flags & VALUE_UPDATE && !hlo_has_opcode(in, "scatter") ? weight : 0);
    w->recomputed = vp_add_most(w->recomputed, flags & VALUE_RECOMPUTED ? weight : 0);
    w->repeated = vp_add_most(w->repeated, flags & VALUE_REPEATED ? weight : 0);
}

static void add_instruction(weights *w, uint32_t at)
{
    const hlo_instr *in = &w->p->instrs[at];
    bool entered = hlo_has_opcode(in, "fusion") || hlo_has_opcode(in, "call");
    add_weight(w, at, hlo_weight_of(w->p, &w->x->v[at], in));
    for (uint32_t i = 0; entered && i < in->called_count && w->n < CALLS_MAX; i++)
        if (w->p->links[in->called + i] != HLO_NONE)
            w->open[w->n++] = w->p->links[in->called + i];
}

uint16_t hlo_permille_of(int64_t part, int64_t all)
{
    return (uint16_t)(all > 0 ? (__int128)part * 1000 / all : 0);
}

hlo_shares hlo_shares_of(const hlo_program *p, const hlo_values *x, uint32_t at)
{
    weights w = {.p = p, .x = x};
    uint32_t root = at;
    add_instruction(&w, at);
    for (uint32_t entered = 0; w.n && entered < CALLS_MAX; entered++) {
        const hlo_computation *c = &p->computations[w.open[--w.n]];
        root = entered || c->root == HLO_NONE ? root : c->root;
        for (uint32_t i = 0; i < c->count && i < BODY_MAX; i++)
            add_instruction(&w, c->first + i);
    }
    if (!w.all) /* it only fills memory */
        add_weight(&w, root, 1);
    return (hlo_shares){.lookup = hlo_permille_of(w.lookup, w.all),
                        .update = hlo_permille_of(w.update, w.all),
                        .recomputed = hlo_permille_of(w.recomputed, w.all),
                        .repeated = hlo_permille_of(w.repeated, w.all)};
}
