#include "trace/model/sort.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

#define DIGIT 11
#define BUCKETS (1u << DIGIT)

/* Whether event a stands before event b: start, then the longer, then the file's order. */
static bool before(const trace_track *k, uint32_t a, uint32_t b)
{
    if (k->start_ps[a] != k->start_ps[b])
        return k->start_ps[a] < k->start_ps[b];
    if (k->dur_ps[a] != k->dur_ps[b])
        return k->dur_ps[a] > k->dur_ps[b];
    return a < b;
}

static int compare(const void *x, const void *y, void *track)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return before(track, a, b) ? -1 : a != b;
}

static void permute_i64(int64_t *column, int64_t *tmp, const uint32_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++)
        tmp[i] = column[order[i]];
    memcpy(column, tmp, n * sizeof *column);
}

static int permute(trace_track *k, const uint32_t *order)
{
    VP_CLEANUP(vp_free_ptr) int64_t *tmp = vp_realloc_array(NULL, k->count, sizeof *tmp);
    if (!tmp)
        return vp_fail(VP_ENOMEM, "out of memory: sorting %zu events", k->count);
    permute_i64(k->start_ps, tmp, order, k->count);
    permute_i64(k->dur_ps, tmp, order, k->count);
    if (k->aligned_start_ps) {
        permute_i64(k->aligned_start_ps, tmp, order, k->count);
        permute_i64(k->aligned_dur_ps, tmp, order, k->count);
    }
    for (size_t a = 0; a < SINK_ATTRS; a++)
        if (k->attr[a])
            permute_i64(k->attr[a], tmp, order, k->count);
    uint32_t *kinds = (uint32_t *)tmp;
    for (size_t i = 0; i < k->count; i++)
        kinds[i] = k->kind[order[i]];
    memcpy(k->kind, kinds, k->count * sizeof *kinds);
    k->sorted = true;
    return 0;
}

/* Nearly sorted tracks, the usual case (a device's own clock swaps 1 % of neighbours): the few
 * events that step back are sorted alone and merged in. Fills the order, or returns false when they
 * are too many. strays has room for count / 8. */
static bool merge_strays(const trace_track *k, uint32_t *order, uint32_t *strays)
{
    size_t n = k->count, main_n = 0, stray_n = 0, at = n;
    for (uint32_t i = 0; i < n; i++) {
        if (!main_n || before(k, order[main_n - 1], i))
            order[main_n++] = i;
        else if (stray_n < n / 8)
            strays[stray_n++] = i;
        else
            return false;
    }
    qsort_r(strays, stray_n, sizeof *strays, compare, (void *)(uintptr_t)k);
    while (stray_n) { /* from the back, into the room that the strays left */
        if (main_n && before(k, strays[stray_n - 1], order[main_n - 1]))
            order[--at] = order[--main_n];
        else
            order[--at] = strays[--stray_n];
    }
    return true;
}

typedef struct item {
    uint64_t key; /* start, from the earliest */
    uint32_t index;
} item;

static void radix_pass(item *to, const item *from, size_t n, unsigned shift)
{
    size_t at[BUCKETS] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++)
        at[from[i].key >> shift & (BUCKETS - 1)]++;
    for (size_t b = 0; b < BUCKETS; b++) {
        size_t count = at[b];
        at[b] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[at[from[i].key >> shift & (BUCKETS - 1)]++] = from[i];
}

static int radix_order(trace_track *k, uint32_t *order)
{
    size_t n = k->count;
    VP_CLEANUP(vp_free_ptr) item *a = vp_realloc_array(NULL, n, sizeof *a);
    VP_CLEANUP(vp_free_ptr) item *b = vp_realloc_array(NULL, n, sizeof *b);
    if (!a || !b)
        return vp_fail(VP_ENOMEM, "out of memory: sorting %zu events", n);
    int64_t least = k->start_ps[0];
    uint64_t bits = 0;
    for (size_t i = 1; i < n; i++)
        least = k->start_ps[i] < least ? k->start_ps[i] : least;
    for (size_t i = 0; i < n; i++) {
        a[i] = (item){(uint64_t)k->start_ps[i] - (uint64_t)least, (uint32_t)i};
        bits |= a[i].key;
    }
    item *from = a, *to = b;
    for (unsigned shift = 0; shift < 64 && bits >> shift; shift += DIGIT) {
        radix_pass(to, from, n, shift);
        item *swap = from;
        from = to;
        to = swap;
    }
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && from[end].key == from[i].key; end++)
            order[end] = from[end].index;
        if (end - i > 1)
            qsort_r(order + i, end - i, sizeof *order, compare, k);
    }
    return 0;
}

int trace_sort_track(trace_track *k)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *order = vp_realloc_array(NULL, k->count, sizeof *order);
    VP_CLEANUP(vp_free_ptr) uint32_t *strays = vp_realloc_array(NULL, k->count / 8, sizeof *strays);
    if (!order || !strays)
        return vp_fail(VP_ENOMEM, "out of memory: sorting %zu events", k->count);
    if (!merge_strays(k, order, strays))
        VP_TRY(radix_order(k, order));
    return permute(k, order);
}
