#include "trace/links/launch_list.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/order.h"

void launch_list_init(launch_list *l)
{
    *l = (launch_list){0};
}

void launch_list_free(launch_list *l)
{
    vp_free(l->v);
    vp_free(l->first);
}

static int by_id_and_start(const void *a, const void *b)
{
    const launch_entry *x = a, *y = b;
    int order = vp_order(x->id, y->id);
    if (!order)
        order = vp_order(x->start_ps, y->start_ps);
    return order ? order : vp_order(x->value, y->value);
}

int launch_list_add(launch_list *l, int64_t id, int64_t start_ps, uint32_t value)
{
    VP_TRY(vp_grow(&l->v, &l->cap, l->n + 1, sizeof *l->v, UINT32_MAX - 1));
    l->v[l->n] = (launch_entry){id, start_ps, value};
    l->is_unsorted = l->is_unsorted || (l->n && by_id_and_start(&l->v[l->n - 1], &l->v[l->n]) > 0);
    l->n++;
    return 0;
}

static bool are_dense(launch_list *l)
{
    int64_t most = l->v[0].id;
    l->least = most;
    for (size_t i = 1; i < l->n; i++) {
        l->least = l->v[i].id < l->least ? l->v[i].id : l->least;
        most = l->v[i].id > most ? l->v[i].id : most;
    }
    l->range = (uint64_t)most - (uint64_t)l->least + 1;
    return l->range && l->range / 8 < l->n + 1024;
}

static uint64_t place_of_id(const launch_list *l, int64_t id)
{
    return (uint64_t)id - (uint64_t)l->least;
}

/* Counting sort by id, which keeps the order of entries with the same id. Entries are moved only if
 * they are out of order. */
static int index_dense_ids(launch_list *l)
{
    l->first = vp_calloc(l->range + 1, sizeof *l->first);
    VP_NEED(l->first);
    for (size_t i = 0; i < l->n; i++)
        l->first[place_of_id(l, l->v[i].id) + 1]++;
    for (uint64_t i = 0; i < l->range; i++)
        l->first[i + 1] += l->first[i];
    if (!l->is_unsorted)
        return 0;
    launch_entry *sorted = vp_realloc_array(NULL, l->n, sizeof *sorted);
    VP_NEED(sorted);
    for (size_t i = 0; i < l->n; i++)
        sorted[l->first[place_of_id(l, l->v[i].id)]++] = l->v[i];
    for (uint64_t i = l->range; i > 0; i--) /* each is now the start of the next one */
        l->first[i] = l->first[i - 1];
    l->first[0] = 0;
    vp_free(l->v);
    l->v = sorted;
    for (uint64_t i = 0; i < l->range; i++)
        if (l->first[i + 1] - l->first[i] > 1)
            vp_put_in_order(l->v + l->first[i], l->first[i + 1] - l->first[i], sizeof *l->v,
                            by_id_and_start);
    return 0;
}

int launch_list_finish(launch_list *l)
{
    if (l->n && are_dense(l))
        return index_dense_ids(l);
    if (l->is_unsorted)
        vp_put_in_order(l->v, l->n, sizeof *l->v, by_id_and_start);
    return 0;
}

/* The first entry in [low, high) that is after (id, start_ps). */
static size_t seek_after(const launch_list *l, size_t low, size_t high, int64_t id,
                         int64_t start_ps)
{
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const launch_entry *e = &l->v[mid];
        if (e->id < id || (e->id == id && e->start_ps <= start_ps))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const launch_entry *launch_list_find(const launch_list *l, int64_t id, int64_t start_ps)
{
    size_t low = 0, high = l->n;
    if (l->first) {
        if (place_of_id(l, id) >= l->range)
            return NULL;
        low = l->first[place_of_id(l, id)];
        high = l->first[place_of_id(l, id) + 1];
    }
    size_t after = seek_after(l, low, high, id, start_ps);
    if (after > low && l->v[after - 1].id == id)
        return &l->v[after - 1];
    return after < high && l->v[after].id == id ? &l->v[after] : NULL;
}
