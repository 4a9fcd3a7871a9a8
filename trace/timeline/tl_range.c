#include "trace/timeline/tl_range.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/timeline/tl_slices.h"

typedef struct adding {
    const tl_index *x;
    tl_sum_of_kind *all; /* by kind */
    int64_t from_ps, until_ps;
    uint64_t events;
    int64_t busy_ps;
} adding;

static int64_t cut(const adding *a, const tl_row *r, uint64_t i)
{
    int64_t start = tl_start(r, i), end = tl_end(r, i);
    start = start > a->from_ps ? start : a->from_ps;
    end = end < a->until_ps ? end : a->until_ps;
    return end > start ? end - start : 0;
}

/* above: the row of which this one's events are children; NULL for the first of a lane. */
static void add_row(adding *a, const tl_row *r, const tl_row *above)
{
    uint64_t parent = above ? tl_first_at(above, a->from_ps) : 0;
    for (uint64_t i = tl_first_at(r, a->from_ps); i < r->count; i++) {
        int64_t start = tl_start(r, i);
        if (start >= a->until_ps)
            break;
        int64_t ps = cut(a, r, i);
        tl_sum_of_kind *k = &a->all[tl_kind_of(r, i)];
        k->calls++;
        k->total_ps = tl_sum(k->total_ps, ps);
        k->self_ps = tl_sum(k->self_ps, ps);
        a->events++;
        if (!above) {
            a->busy_ps = tl_sum(a->busy_ps, ps);
            continue;
        }
        while (parent + 1 < above->count && tl_start(above, parent + 1) <= start)
            parent++;
        int64_t *self = &a->all[tl_kind_of(above, parent)].self_ps;
        *self = tl_sum(*self, -ps);
    }
}

static void add_track(adding *a, const tl_track *k)
{
    for (uint32_t i = 0; i < k->row_count; i++) {
        const tl_row *r = &a->x->rows[k->first_row + i];
        add_row(a, r, r->depth ? r - 1 : NULL);
    }
}

static int by_self(const void *a, const void *b)
{
    const tl_sum_of_kind *x = a, *y = b;
    if (x->self_ps != y->self_ps)
        return x->self_ps > y->self_ps ? -1 : 1;
    return x->kind < y->kind ? -1 : x->kind > y->kind;
}

int tl_range_of(tl_range *out, const tl_index *x, const uint32_t *tracks, size_t count,
                int64_t from_ps, int64_t until_ps)
{
    adding a = {.x = x, .from_ps = from_ps, .until_ps = until_ps};
    a.all = vp_calloc((size_t)x->kind_count + 1, sizeof *a.all);
    VP_NEED(a.all);
    for (size_t i = 0; i < count; i++)
        add_track(&a, &x->tracks[tracks[i]]);
    size_t n = 0;
    for (uint32_t i = 0; i < x->kind_count; i++)
        if (a.all[i].calls) {
            a.all[n] = a.all[i];
            a.all[n++].kind = i;
        }
    qsort(a.all, n, sizeof *a.all, by_self);
    *out = (tl_range){a.all, n, a.events, a.busy_ps};
    return 0;
}

void tl_range_free(tl_range *r)
{
    vp_free(r->kinds);
    *r = (tl_range){0};
}
