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
    vp_free(l->first);
    vp_map_free(&l->by_id);
}

int launch_list_add(launch_list *l, int64_t id, int64_t start_ps, uint32_t value)
{
    uint32_t number = vp_map_get(&l->by_id, (uint64_t)id);
    VP_TRY(vp_grow(&l->v, &l->cap, l->n + 1, sizeof *l->v, UINT32_MAX - 1));
    if (number == VP_MAP_NONE) {
        number = l->ids++;
        VP_TRY(vp_map_set(&l->by_id, (uint64_t)id, number));
    }
    l->is_unsorted = l->is_unsorted || (l->n && start_ps < l->v[l->n - 1].start_ps);
    l->v[l->n++] = (launch_entry){start_ps, number, value};
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const launch_entry *x = a, *y = b;
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* Counting sort by id, which keeps the order of entries with the same id. */
static int sort_by_number(launch_list *l)
{
    launch_entry *sorted = vp_realloc_array(NULL, l->n, sizeof *sorted);
    VP_NEED(sorted);
    for (size_t i = 0; i < l->n; i++)
        l->first[l->v[i].number + 1]++;
    for (uint32_t i = 0; i < l->ids; i++)
        l->first[i + 1] += l->first[i];
    for (size_t i = 0; i < l->n; i++)
        sorted[l->first[l->v[i].number]++] = l->v[i];
    for (uint32_t i = l->ids; i > 0; i--) /* each is now the start of the next one */
        l->first[i] = l->first[i - 1];
    l->first[0] = 0;
    vp_free(l->v);
    l->v = sorted;
    return 0;
}

int launch_list_finish(launch_list *l)
{
    if (l->ids == l->n) /* ids are distinct: an entry's index is its number */
        return 0;
    l->first = vp_calloc((size_t)l->ids + 1, sizeof *l->first);
    VP_NEED(l->first);
    VP_TRY(sort_by_number(l));
    for (uint32_t i = 0; l->is_unsorted && i < l->ids; i++)
        qsort(l->v + l->first[i], l->first[i + 1] - l->first[i], sizeof *l->v, by_start);
    return 0;
}

const launch_entry *launch_list_find(const launch_list *l, int64_t id, int64_t start_ps)
{
    uint32_t number = vp_map_get(&l->by_id, (uint64_t)id);
    if (number == VP_MAP_NONE)
        return NULL;
    if (!l->first)
        return &l->v[number];
    size_t first = l->first[number], low = first, high = l->first[number + 1];
    while (low < high) { /* to the first entry after start_ps */
        size_t mid = low + (high - low) / 2;
        if (l->v[mid].start_ps <= start_ps)
            low = mid + 1;
        else
            high = mid;
    }
    return &l->v[low > first ? low - 1 : first];
}
