#include "trace/links/launch_list.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

void launch_list_init(launch_list *l)
{
    *l = (launch_list){0};
    vp_map_init(&l->by_id);
}

void launch_list_free(launch_list *l)
{
    vp_free(l->v);
    vp_map_free(&l->by_id);
}

int launch_list_add(launch_list *l, int64_t id, int64_t start_ps, uint32_t value)
{
    VP_TRY(vp_grow(&l->v, &l->cap, l->n + 1, sizeof *l->v, UINT32_MAX - 1));
    l->has_repeat = l->has_repeat || vp_map_get(&l->by_id, (uint64_t)id) != VP_MAP_NONE;
    if (!l->has_repeat)
        VP_TRY(vp_map_set(&l->by_id, (uint64_t)id, (uint32_t)l->n));
    l->v[l->n++] = (launch_entry){id, start_ps, value};
    return 0;
}

static int by_id_then_start(const void *a, const void *b)
{
    const launch_entry *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

void launch_list_finish(launch_list *l)
{
    if (l->has_repeat)
        qsort(l->v, l->n, sizeof *l->v, by_id_then_start);
}

const launch_entry *launch_list_find(const launch_list *l, int64_t id, int64_t start_ps)
{
    if (!l->has_repeat) {
        uint32_t at = vp_map_get(&l->by_id, (uint64_t)id);
        return at == VP_MAP_NONE ? NULL : &l->v[at];
    }
    size_t low = 0, high = l->n; /* the first entry behind (id, start_ps) */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const launch_entry *e = &l->v[mid];
        if (e->id < id || (e->id == id && e->start_ps <= start_ps))
            low = mid + 1;
        else
            high = mid;
    }
    if (low && l->v[low - 1].id == id)
        return &l->v[low - 1];
    return low < l->n && l->v[low].id == id ? &l->v[low] : NULL;
}
