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

static int permute_attrs(trace_track *k, const uint32_t *order)
{
    for (size_t a = 0; a < SINK_ATTRS; a++)
        if (k->attr[a])
            VP_TRY(trace_column_permute(&k->attr[a], order, k->count));
    return 0;
}

/* tmp has room for a column. */
static int permute(trace_track *k, const uint32_t *order, int64_t *tmp)
{
    permute_i64(k->start_ps, tmp, order, k->count);
    permute_i64(k->dur_ps, tmp, order, k->count);
    if (k->aligned_start_ps) {
        permute_i64(k->aligned_start_ps, tmp, order, k->count);
        permute_i64(k->aligned_dur_ps, tmp, order, k->count);
    }
    uint32_t *kinds = (uint32_t *)tmp;
    for (size_t i = 0; i < k->count; i++)
        kinds[i] = k->kind[order[i]];
    memcpy(k->kind, kinds, k->count * sizeof *kinds);
    k->sorted = true;
    return permute_attrs(k, order);
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

static unsigned bits_of(uint64_t v)
{
    return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

/* What the radix sort moves: the start from the earliest on, and below it the event's index. The
 * start loses low bits, at least 10 of them (1 ns), so that both fit and files in ns need a pass
 * less; what is equal then is told apart by `compare`. */
typedef struct packing {
    int64_t least;
    unsigned drop, index_bits, bits;
} packing;

static packing choose_packing(const trace_track *k)
{
    int64_t least = k->start_ps[0], most = least;
    for (size_t i = 1; i < k->count; i++) {
        least = k->start_ps[i] < least ? k->start_ps[i] : least;
        most = k->start_ps[i] > most ? k->start_ps[i] : most;
    }
    unsigned span = bits_of((uint64_t)most - (uint64_t)least);
    packing p = {.least = least, .drop = 10, .index_bits = bits_of(k->count - 1)};
    if (span + p.index_bits > 64 + p.drop)
        p.drop = span + p.index_bits - 64;
    p.bits = p.index_bits + (span > p.drop ? span - p.drop : 0);
    return p;
}

static void radix_pass(uint64_t *to, const uint64_t *from, size_t n, unsigned shift)
{
    size_t at[BUCKETS] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++)
        at[from[i] >> shift & (BUCKETS - 1)]++;
    for (size_t b = 0; b < BUCKETS; b++) {
        size_t count = at[b];
        at[b] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[at[from[i] >> shift & (BUCKETS - 1)]++] = from[i];
}

/* Orders events whose keys are equal: mostly two or three. */
static void order_equals(const trace_track *k, uint32_t *v, size_t n)
{
    if (n > 16) {
        qsort_r(v, n, sizeof *v, compare, (void *)(uintptr_t)k);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        uint32_t e = v[i];
        size_t at = i;
        for (; at && before(k, e, v[at - 1]); at--)
            v[at] = v[at - 1];
        v[at] = e;
    }
}

/* Sorts packed keys, in `from` or in `to`, which has as much room: where they end. */
static uint64_t *sort_keys(uint64_t *from, uint64_t *to, size_t n, packing p)
{
    for (unsigned shift = p.index_bits; shift < p.bits; shift += DIGIT) {
        radix_pass(to, from, n, shift);
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static void order_of(uint32_t *order, const trace_track *k, const uint64_t *keys, packing p)
{
    uint64_t mask = (UINT64_C(1) << p.index_bits) - 1;
    for (size_t i = 0, end; i < k->count; i = end) {
        for (end = i; end < k->count && keys[end] >> p.index_bits == keys[i] >> p.index_bits; end++)
            order[end] = (uint32_t)(keys[end] & mask);
        order_equals(k, order + i, end - i);
    }
}

static int no_memory(const trace_track *k)
{
    return vp_fail(VP_ENOMEM, "out of memory: sorting %zu events", k->count);
}

/* Of the two halves that the keys go to and fro between, one becomes the order and the other room
 * for a column: memory that is touched for the first time costs more than the sort. */
static int radix_sort(trace_track *k)
{
    size_t n = k->count;
    VP_CLEANUP(vp_free_ptr) uint64_t *a = vp_realloc_array(NULL, n, sizeof *a);
    VP_CLEANUP(vp_free_ptr) uint64_t *b = vp_realloc_array(NULL, n, sizeof *b);
    if (!a || !b)
        return no_memory(k);
    packing p = choose_packing(k);
    for (size_t i = 0; i < n; i++)
        a[i] = ((uint64_t)k->start_ps[i] - (uint64_t)p.least) >> p.drop << p.index_bits | i;
    uint64_t *keys = sort_keys(a, b, n, p);
    uint32_t *order = (uint32_t *)(keys == a ? b : a);
    order_of(order, k, keys, p);
    return permute(k, order, (int64_t *)keys);
}

int trace_sort_track(trace_track *k)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *order = vp_realloc_array(NULL, k->count, sizeof *order);
    VP_CLEANUP(vp_free_ptr) uint32_t *strays = vp_realloc_array(NULL, k->count / 8, sizeof *strays);
    VP_CLEANUP(vp_free_ptr) int64_t *tmp = NULL;
    if (!order || !strays)
        return no_memory(k);
    if (!merge_strays(k, order, strays)) {
        vp_free_ptr(&order);
        return radix_sort(k);
    }
    tmp = vp_realloc_array(NULL, k->count, sizeof *tmp);
    return tmp ? permute(k, order, tmp) : no_memory(k);
}
