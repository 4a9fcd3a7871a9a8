#include "trace/analyze/op_callers.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

typedef struct caller_sum {
    vp_sid inner, outer, scope, source;
    int64_t calls, self_ps;
} caller_sum;

static int by_place(const void *a, const void *b)
{
    const caller_sum *x = a, *y = b;
    const vp_sid left[] = {x->inner, x->outer, x->scope, x->source};
    const vp_sid right[] = {y->inner, y->outer, y->scope, y->source};
    for (size_t i = 0; i < 4; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

static int by_caller_self(const void *a, const void *b)
{
    const caller_sum *x = a, *y = b;
    return x->self_ps != y->self_ps ? (x->self_ps < y->self_ps) - (x->self_ps > y->self_ps)
                                    : by_place(a, b);
}

/* Adds up equal places, which become neighbors by sorting. */
static size_t join_places(caller_sum *v, size_t n)
{
    size_t kept = 0;
    if (n)
        qsort(v, n, sizeof *v, by_place);
    for (size_t i = 0; i < n; i++) {
        if (!kept || by_place(&v[kept - 1], &v[i])) {
            v[kept++] = v[i];
            continue;
        }
        v[kept - 1].calls += v[i].calls;
        v[kept - 1].self_ps += v[i].self_ps;
    }
    return kept;
}

static int copy_caller_text(const char **out, vp_arena *arena, const trace *t, vp_sid id)
{
    vp_str s = trace_str(t, id);
    *out = s.n ? vp_arena_strndup(arena, s.p, s.n) : NULL;
    return s.n && !*out ? vp_no_memory() : 0;
}

static int keep_callers(op_details *d, vp_arena *arena, const trace *t, caller_sum *v, size_t n)
{
    size_t kept = n < OP_CALLERS_MAX ? n : OP_CALLERS_MAX;
    if (n)
        qsort(v, n, sizeof *v, by_caller_self);
    d->callers = vp_arena_zalloc(arena, (kept + 1) * sizeof *d->callers);
    VP_NEED(d->callers);
    for (size_t i = 0; i < kept; i++) {
        detail_caller *c = &d->callers[i];
        VP_TRY(copy_caller_text(&c->operator_name, arena, t, v[i].inner));
        VP_TRY(copy_caller_text(&c->outermost_name, arena, t, v[i].outer));
        VP_TRY(copy_caller_text(&c->scope, arena, t, v[i].scope));
        VP_TRY(copy_caller_text(&c->source, arena, t, v[i].source));
        c->calls = v[i].calls;
        c->self_ps = v[i].self_ps;
    }
    d->caller_count = kept;
    d->more_callers = n - kept;
    return 0;
}

int op_callers(op_details *d, vp_arena *arena, const analysis *a, uint32_t device,
               const uint8_t *is_member)
{
    const kind_list *times = &a->devices[device].times;
    VP_CLEANUP(vp_free_ptr) caller_sum *v = vp_realloc_array(NULL, times->n + 1, sizeof *v);
    size_t n = 0;
    bool linked = false;
    VP_NEED(v);
    for (uint32_t i = 0; i < times->n; i++) {
        const trace_kind *k = &a->t->kinds[times->kind[i]];
        if (!is_member[times->kind[i]] || !times->calls[i])
            continue;
        linked = linked || k->op_inner;
        v[n++] = (caller_sum){k->op_inner, k->op_outer,     k->scope,
                              k->source,   times->calls[i], times->self_ps[i]};
    }
    return keep_callers(d, arena, a->t, v, linked ? join_places(v, n) : 0);
}
