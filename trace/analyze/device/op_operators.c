#include "trace/analyze/device/op_operators.h"

#include <string.h>

#include "trace/analyze/device/scopes.h"
#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

/* What one operator launched in one group, or of that what one outermost operator called. */
typedef struct operator_sum {
    uint32_t of;   /* the group; of a call, the index of the operator's sum */
    uint32_t kind; /* the first */
    int64_t self_ps;
} operator_sum;

typedef struct sum_list {
    operator_sum *v;
    size_t n, cap;
    vp_map at; /* of << 32 | name → index */
} sum_list;

typedef struct operator_sums {
    const trace *t;
    sum_list inner, outer;
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

static int add_to_sum(uint32_t *out, sum_list *l, uint32_t of, vp_sid name, uint32_t kind,
                      int64_t self_ps)
{
    uint64_t key = (uint64_t)of << 32 | name;
    uint32_t at = vp_map_get(&l->at, key);
    if (at == VP_MAP_NONE) {
        VP_TRY(vp_grow(&l->v, &l->cap, l->n + 1, sizeof *l->v, UINT32_MAX - 1));
        at = (uint32_t)l->n++;
        l->v[at] = (operator_sum){.of = of, .kind = kind};
        VP_TRY(vp_map_set(&l->at, key, at));
    }
    l->v[at].self_ps += self_ps;
    *out = at;
    return 0;
}

static int add_kind_to_operator(operator_sums *s, uint32_t group, uint32_t kind, int64_t self_ps)
{
    const trace_kind *k = &s->t->kinds[kind];
    vp_str name = kind_operator(s->t, k, false);
    uint32_t at;
    vp_sid id;
    if (!name.n)
        return 0;
    VP_TRY(vp_intern_put(&s->names, name, &id));
    VP_TRY(add_to_sum(&at, &s->inner, group, id, kind, self_ps));
    return add_to_sum(&at, &s->outer, at, k->op_outer, kind, self_ps);
}

static bool is_text_before(vp_str x, vp_str y)
{
    int order = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);
    return order ? order < 0 : x.n < y.n;
}

/* Whether sum x is a better choice than y: more time, or the same and first by text. */
static bool is_better_sum(const trace *t, const operator_sum *x, const operator_sum *y, bool outer)
{
    if (x->self_ps != y->self_ps)
        return x->self_ps > y->self_ps;
    return is_text_before(kind_operator(t, &t->kinds[x->kind], outer),
                          kind_operator(t, &t->kinds[y->kind], outer));
}

/* best: by group, the index of its sum so far, plus 1. */
static void choose_operators(op_operator *out, uint32_t *best, const operator_sums *s)
{
    const operator_sum *inner = s->inner.v, *outer = s->outer.v;
    for (size_t i = 0; i < s->inner.n; i++) {
        uint32_t group = inner[i].of;
        out[group].count++;
        if (!best[group] || is_better_sum(s->t, &inner[i], &inner[best[group] - 1], false))
            best[group] = (uint32_t)i + 1;
    }
    for (size_t i = 0; i < s->outer.n; i++) { /* the sums of calls of the chosen operators */
        op_operator *o = &out[inner[outer[i].of].of];
        if (best[inner[outer[i].of].of] != outer[i].of + 1)
            continue;
        if (!o->chosen || is_better_sum(s->t, &outer[i], &outer[o->chosen - 1], true))
            o->chosen = (uint32_t)i + 1;
        o->kind = outer[o->chosen - 1].kind;
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
    vp_map_init(&s.inner.at);
    vp_map_init(&s.outer.at);
    int rc = vp_intern_init(&s.names, &s.arena);
    for (uint32_t i = 0; rc >= 0 && i < l->n; i++)
        if (group_of[l->kind[i]] != UINT32_MAX)
            rc = add_kind_to_operator(&s, group_of[l->kind[i]], l->kind[i], l->self_ps[i]);
    if (rc >= 0)
        choose_operators(out, best, &s);
    vp_intern_free(&s.names);
    vp_arena_free(&s.arena);
    vp_map_free(&s.inner.at);
    vp_map_free(&s.outer.at);
    vp_free(s.inner.v);
    vp_free(s.outer.v);
    return rc;
}
