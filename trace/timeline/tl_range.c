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

static int64_t event_ps_in_range(const adding *a, const tl_row *r, uint64_t i)
{
    int64_t start = tl_start(r, i), end = tl_end(r, i);
    start = start > a->from_ps ? start : a->from_ps;
    end = end < a->until_ps ? end : a->until_ps;
    return end > start ? end - start : 0;
}

/* above: the row of the parents of this row's events; NULL for the first of a lane. */
static void add_range_row(adding *a, const tl_row *r, const tl_row *above)
{
    uint64_t parent = above ? tl_first_at(above, a->from_ps) : 0;
    for (uint64_t i = tl_first_at(r, a->from_ps); i < r->count; i++) {
        int64_t start = tl_start(r, i);
        if (start >= a->until_ps)
            break;
        int64_t ps = event_ps_in_range(a, r, i);
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

static void add_range_track(adding *a, const tl_track *k)
{
    for (uint32_t i = 0; i < k->row_count; i++) {
        const tl_row *r = &a->x->rows[k->first_row + i];
        add_range_row(a, r, r->depth ? r - 1 : NULL);
    }
}

/* ---- Covered time
 * -------------------------------------------------------------------------------- */

/* The outermost rows of a track's lanes, each with its next event, as a heap by that event's start.
 */
typedef struct lane {
    const tl_row *r;
    uint64_t next;
    int64_t start_ps;
} lane;

static void lane_heap_sift_down(lane *heap, uint32_t n)
{
    for (uint32_t i = 0, least; (least = 2 * i + 1) < n; i = least) {
        least += least + 1 < n && heap[least + 1].start_ps < heap[least].start_ps;
        if (heap[i].start_ps <= heap[least].start_ps)
            return;
        lane swap = heap[i];
        heap[i] = heap[least];
        heap[least] = swap;
    }
}

static void put_lane(lane *heap, uint32_t i, lane l)
{
    for (; i > 0 && l.start_ps < heap[(i - 1) / 2].start_ps; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = l;
}

static uint32_t open_lanes(lane *heap, const adding *a, const tl_track *k)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->row_count; i++) {
        const tl_row *r = &a->x->rows[k->first_row + i];
        uint64_t first = r->depth ? r->count : tl_first_at(r, a->from_ps);
        if (first < r->count && n <= TL_LANES_MAX)
            put_lane(heap, n++, (lane){r, first, tl_start(r, first)});
    }
    return n;
}

static int64_t covered_ps_of_track(const adding *a, const tl_track *k)
{
    lane heap[TL_LANES_MAX + 1]; /* and the row of overlaps */
    int64_t sum = 0, until = a->from_ps;
    uint32_t n = open_lanes(heap, a, k);
    while (n && heap->start_ps < a->until_ps) {
        int64_t end = tl_end(heap->r, heap->next);
        end = end < a->until_ps ? end : a->until_ps;
        if (end > until) {
            sum += end - (heap->start_ps > until ? heap->start_ps : until);
            until = end;
        }
        if (++heap->next < heap->r->count)
            heap->start_ps = tl_start(heap->r, heap->next);
        else
            *heap = heap[--n];
        lane_heap_sift_down(heap, n);
    }
    return sum;
}

/* ---- Sums ----------------------------------------------------------------------------------- */

static int by_range_self_time(const void *a, const void *b)
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
    int64_t once = 0;
    uint32_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const tl_track *k = &x->tracks[tracks[i]];
        add_range_track(&a, k);
        once = tl_sum(once, covered_ps_of_track(&a, k));
        used += k->count > 0;
    }
    size_t n = 0;
    for (uint32_t i = 0; i < x->kind_count; i++)
        if (a.all[i].calls) {
            a.all[n] = a.all[i];
            a.all[n++].kind = i;
        }
    qsort(a.all, n, sizeof *a.all, by_range_self_time);
    *out = (tl_range){a.all, n, a.events, a.busy_ps, once, used};
    return 0;
}

void tl_range_free(tl_range *r)
{
    vp_free(r->kinds);
    *r = (tl_range){0};
}
