#include "trace/analyze/op_launches.h"

#include <stdlib.h>

#include "trace/analyze/device/kernel_launch.h"
#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

static int by_launch_self(const void *a, const void *b)
{
    const detail_launch *x = a, *y = b;
    return (x->self_ps < y->self_ps) - (x->self_ps > y->self_ps);
}

typedef struct launches {
    detail_launch *v;
    size_t n, cap;
    vp_map by_text;
} launches;

static int launches_add_kind(launches *l, vp_arena *arena, const trace *t, vp_sid launch,
                             int64_t calls, int64_t self_ps)
{
    uint32_t at = vp_map_get(&l->by_text, launch);
    if (at == VP_MAP_NONE) {
        VP_TRY(vp_grow(&l->v, &l->cap, l->n + 1, sizeof *l->v, UINT32_MAX - 1));
        at = (uint32_t)l->n++;
        l->v[at] = (detail_launch){0};
        VP_TRY(vp_map_set(&l->by_text, launch, at));
        VP_TRY(kernel_launch_of(&l->v[at].how, arena, trace_str(t, launch)));
    }
    l->v[at].calls += calls;
    l->v[at].self_ps += self_ps;
    return 0;
}

static int keep_launches(op_details *d, vp_arena *arena, const launches *l)
{
    size_t n = l->n < OP_LAUNCHES_MAX ? l->n : OP_LAUNCHES_MAX;
    if (l->n)
        qsort(l->v, l->n, sizeof *l->v, by_launch_self);
    d->launches = vp_arena_zalloc(arena, (n + 1) * sizeof *d->launches);
    VP_NEED(d->launches);
    for (size_t i = 0; i < n; i++)
        d->launches[i] = l->v[i];
    d->launch_count = n;
    d->more_launches = l->n - n;
    return 0;
}

int op_launches(op_details *d, vp_arena *arena, const analysis *a, uint32_t device,
                const uint8_t *is_member)
{
    const kind_list *times = &a->devices[device].times;
    launches l = {.n = 0};
    int rc = 0;
    vp_map_init(&l.by_text);
    for (uint32_t i = 0; rc >= 0 && i < times->n; i++) {
        vp_sid launch = a->t->kinds[times->kind[i]].launch;
        if (launch && is_member[times->kind[i]])
            rc = launches_add_kind(&l, arena, a->t, launch, times->calls[i], times->self_ps[i]);
    }
    if (rc >= 0)
        rc = keep_launches(d, arena, &l);
    vp_map_free(&l.by_text);
    vp_free(l.v);
    return rc;
}
