#include "trace/model/sort.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

#define DIGIT 11
#define BUCKETS (1u << DIGIT)

typedef struct item {
    uint64_t key;
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

static int longer_first(const void *x, const void *y, void *dur_column)
{
    const item *a = x, *b = y;
    const int64_t *dur = dur_column;
    if (dur[a->index] != dur[b->index])
        return dur[a->index] < dur[b->index] ? 1 : -1;
    return a->index < b->index ? -1 : 1;
}

/* Equal starts: longer first, then the file's order. */
static void order_ties(item *v, size_t n, int64_t *dur)
{
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && v[end].key == v[i].key;)
            end++;
        if (end - i > 1)
            qsort_r(v + i, end - i, sizeof *v, longer_first, dur);
    }
}

static void permute_i64(int64_t *column, int64_t *tmp, const item *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        tmp[i] = column[v[i].index];
    memcpy(column, tmp, n * sizeof *column);
}

static void permute(trace_track *k, const item *v, int64_t *tmp)
{
    permute_i64(k->start_ps, tmp, v, k->count);
    permute_i64(k->dur_ps, tmp, v, k->count);
    if (k->aligned_start_ps) {
        permute_i64(k->aligned_start_ps, tmp, v, k->count);
        permute_i64(k->aligned_dur_ps, tmp, v, k->count);
    }
    uint32_t *kinds = (uint32_t *)tmp;
    for (size_t i = 0; i < k->count; i++)
        kinds[i] = k->kind[v[i].index];
    memcpy(k->kind, kinds, k->count * sizeof *kinds);
}

int trace_sort_track(trace_track *k)
{
    size_t n = k->count;
    VP_CLEANUP(vp_free_ptr) item *a = vp_realloc_array(NULL, n, sizeof *a);
    VP_CLEANUP(vp_free_ptr) item *b = vp_realloc_array(NULL, n, sizeof *b);
    if (!a || !b)
        return vp_fail(VP_ENOMEM, "out of memory: sorting %zu events", n);
    uint64_t low = (uint64_t)k->start_ps[0] ^ (UINT64_C(1) << 63), all = 0;
    for (size_t i = 1; i < n; i++) {
        uint64_t key = (uint64_t)k->start_ps[i] ^ (UINT64_C(1) << 63);
        low = key < low ? key : low;
    }
    for (size_t i = 0; i < n; i++) {
        a[i] = (item){((uint64_t)k->start_ps[i] ^ (UINT64_C(1) << 63)) - low, (uint32_t)i};
        all |= a[i].key;
    }
    item *from = a, *to = b;
    for (unsigned shift = 0; shift < 64 && all >> shift; shift += DIGIT) {
        radix_pass(to, from, n, shift);
        item *swap = from;
        from = to;
        to = swap;
    }
    order_ties(from, n, k->dur_ps);
    permute(k, from, (int64_t *)to);
    k->sorted = true;
    return 0;
}
