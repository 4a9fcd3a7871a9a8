/* Costs of ops by the shapes of their HLO instructions. */
#include "trace/analyze/device/scopes.h"
#include "trace/analyze/mfu/costs.h"
#include "trace/analyze/mfu/hlo_cost.h"
#include "trace/analyze/result/programs.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/read/semantics/hlo.h"

/* *out is NULL where the file has no such program. */
static int hlo_program_of_id(const hlo_program **out, analysis *a, int64_t program_id)
{
    uint32_t i = trace_find_program(a->t, program_id);
    *out = NULL;
    return i < a->t->program_count ? programs_get(out, a, i) : 0;
}

/* What the instruction adds to the op's own stats: the shapes of its matmuls. */
static void add_product_shape(op_cost *cost, const hlo_program *p, uint32_t at)
{
    const op_cost hlo = hlo_cost_of(p, at);
    if (cost->what != COST_PRODUCT || hlo.what != COST_PRODUCT)
        return;
    for (size_t i = 0; i < sizeof hlo.mxu_flops / sizeof *hlo.mxu_flops; i++)
        cost->mxu_flops[i] = tile_scaled(cost->flops, hlo.mxu_flops[i], hlo.flops);
    cost->passes = hlo.passes;
    if (cost->dtype == VP_DTYPE_UNKNOWN)
        cost->dtype = hlo.dtype;
}

int costs_by_hlo(costs *c, analysis *a)
{
    const trace *t = a->t;
    for (uint32_t i = 0; i < t->kind_count; i++) {
        const trace_kind *k = &t->kinds[i];
        op_cost *cost = &c->by_kind[i];
        const hlo_program *p;
        if (!k->is_op || cost->what == COST_OTHER || !k->hlo_op)
            continue;
        VP_TRY(hlo_program_of_id(&p, a, k->program_id));
        uint32_t at = p ? hlo_program_find(p, hlo_innermost(trace_str(t, k->hlo_op))) : HLO_NONE;
        if (at == HLO_NONE)
            continue;
        if (cost->what != COST_UNKNOWN) {
            add_product_shape(cost, p, at);
            continue;
        }
        bool remat = cost->remat, formatting = cost->formatting;
        *cost = hlo_cost_of(p, at);
        cost->remat = remat;
        cost->formatting = formatting;
    }
    return 0;
}

/* Kernels of one instruction: it ran as often as its most frequent kernel, so that one gets its
 * cost; ties: the one with the longest time. */
static bool is_better(const kind_list *l, uint32_t a, uint32_t b)
{
    return l->calls[a] != l->calls[b] ? l->calls[a] > l->calls[b] : l->self_ps[a] > l->self_ps[b];
}

static int keep_one_of_each(costs *c, const kind_list *l, vp_map *best)
{
    for (uint32_t i = 0; i < l->n; i++) {
        const trace_kind *k = &c->t->kinds[l->kind[i]];
        uint32_t loser = i, other;
        if (c->by_kind[l->kind[i]].source != VP_COST_HLO)
            continue;
        uint64_t key = vp_mix((uint64_t)k->program_id) ^ k->hlo_op;
        other = vp_map_get(best, key);
        if (other == VP_MAP_NONE || is_better(l, i, other)) {
            VP_TRY(vp_map_set(best, key, i));
            loser = other;
        }
        if (loser == VP_MAP_NONE)
            continue;
        op_cost *none = &c->by_kind[l->kind[loser]];
        none->flops = none->padded = none->bytes = none->mxu_flops[0] = none->mxu_flops[1] = 0;
    }
    return 0;
}

int costs_once(costs *c, const analysis *a)
{
    int rc = 0;
    for (size_t d = 0; rc >= 0 && d < a->device_count; d++) {
        vp_map best;
        vp_map_init(&best);
        rc = keep_one_of_each(c, &a->devices[d].times, &best);
        vp_map_free(&best);
    }
    return rc;
}
