#include "trace/analyze/device/op_operators.h"

#include <string.h>

#include "trace/analyze/device/scopes.h"
#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

/* What one operator launched in one group. */
typedef struct operator_sum {
    uint32_t group, kind; /* kind: the one with the most self time */
    int64_t self_ps, kind_ps;
} operator_sum;

typedef struct operator_sums {
    const trace *t;
    operator_sum *v;
    size_t n, cap;
    vp_map at; /* group << 32 | operator's name → index */
    vp_arena arena;
    vp_intern names;
} operator_sums;

vp_str kind_operator(const trace *t, const trace_kind *k, bool outermost)
{
    vp_str scope = trace_str(t, k->scope), category = trace_str(t, k->category);
    if (k->op_inner)
        return trace_str(t, outermost ? k->op_outer : k->op_inner);
    if (vp_str_eq(category, VP_STR("cpu_op")) || vp_str_eq(category, VP_STR("operator")))
        return trace_str(t, k->name);
    if (k->is_linked)
        return VP_STR_NONE;
    for (size_t at = 0; at < scope.n;) {
        size_t end = scope_component_end(scope, at);
        if (end >= scope.n)
            return vp_str_skip(scope, at);
        at = end + 1;
    }
    return VP_STR_NONE;
}

static int add_kind_to_operator(operator_sums *s, uint32_t group, uint32_t kind, int64_t self_ps)
{
    vp_str name = kind_operator(s->t, &s->t->kinds[kind], false);
    vp_sid id;
    if (!name.n)
        return 0;
    VP_TRY(vp_intern_put(&s->names, name, &id));
    uint64_t key = (uint64_t)group << 32 | id;
    uint32_t at = vp_map_get(&s->at, key);
    if (at == VP_MAP_NONE) {
        VP_TRY(vp_grow(&s->v, &s->cap, s->n + 1, sizeof *s->v, UINT32_MAX - 1));
        at = (uint32_t)s->n++;
        s->v[at] = (operator_sum){.group = group, .kind = kind, .kind_ps = -1};
        VP_TRY(vp_map_set(&s->at, key, at));
    }
    operator_sum *sum = &s->v[at];
    sum->self_ps += self_ps;
    if (self_ps > sum->kind_ps) {
        sum->kind_ps = self_ps;
        sum->kind = kind;
    }
    return 0;
}

static bool is_operator_before(const trace *t, uint32_t a, uint32_t b)
{
    vp_str x = kind_operator(t, &t->kinds[a], false), y = kind_operator(t, &t->kinds[b], false);
    int order = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);
    return order ? order < 0 : x.n < y.n;
}

/* best: by group, the index of its sum so far, plus 1. */
static void choose_operators(op_operator *out, uint32_t *best, const operator_sums *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const operator_sum *sum = &s->v[i];
        const operator_sum *old = best[sum->group] ? &s->v[best[sum->group] - 1] : NULL;
        out[sum->group].count++;
        if (old &&
            (sum->self_ps < old->self_ps ||
             (sum->self_ps == old->self_ps && !is_operator_before(s->t, sum->kind, old->kind))))
            continue;
        best[sum->group] = (uint32_t)i + 1;
        out[sum->group].kind = sum->kind;
    }
}

int op_operators(op_operator *out, uint32_t group_count, const trace *t, const uint32_t *group_of,
                 const kind_list *l)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *best = vp_calloc((size_t)group_count + 1, sizeof *best);
    operator_sums s = {.t = t};
    VP_NEED(best);
    for (uint32_t i = 0; i < group_count; i++)
        out[i] = (op_operator){0};
    vp_arena_init(&s.arena);
    vp_map_init(&s.at);
    int rc = vp_intern_init(&s.names, &s.arena);
    for (uint32_t i = 0; rc >= 0 && i < l->n; i++)
        if (group_of[l->kind[i]] != UINT32_MAX)
            rc = add_kind_to_operator(&s, group_of[l->kind[i]], l->kind[i], l->self_ps[i]);
    if (rc >= 0)
        choose_operators(out, best, &s);
    vp_intern_free(&s.names);
    vp_arena_free(&s.arena);
    vp_map_free(&s.at);
    vp_free(s.v);
    return rc;
}
