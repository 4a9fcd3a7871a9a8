#include "trace/model/sort.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/radix.h"
#include "trace/base/thread.h"
#include "trace/model/runs.h"

static int compare_track_events(const void *x, const void *y, void *track)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return trace_before(track, a, b) ? -1 : a != b;
}

/* Below this many events, starting a thread takes longer than reordering them. */
#define PERMUTE_ALONE 50000u

typedef struct reorder {
    trace_track *k;
    const uint32_t *order;
} reorder;

static int permute_attr(void *ctx, uint32_t a)
{
    const reorder *r = ctx;
    trace_column **c = &r->k->attr[a];
    return *c ? trace_column_permute(c, r->order, r->k->count) : 0;
}

static int permute_track(trace_track *k, const uint32_t *order, sort_buffer *buffer, int threads)
{
    reorder r = {k, order};
    VP_TRY(trace_times_permute(&k->own, order, k->count, buffer));
    if (k->aligned.v)
        VP_TRY(trace_times_permute(&k->aligned, order, k->count, buffer));
    k->sorted = true;
    return vp_each(k->count < PERMUTE_ALONE ? 1 : threads, SINK_ATTRS, permute_attr, &r);
}

/* For nearly sorted tracks, the usual case (a device clock swaps 1 % of neighbors): sorts the few
 * events that are out of order, and merges them in. Writes the order: 1, or 0 if there are too
 * many. */
static int merge_strays(const trace_track *k, uint32_t *order, sort_buffer *buffer)
{
    size_t n = k->count, main_n = 0, stray_n = 0, at = n;
    VP_TRY(vp_grow(&buffer->p, &buffer->cap, n / 16 + 1, sizeof *buffer->p, VP_EVENTS_MAX));
    uint32_t *strays = (uint32_t *)buffer->p;
    for (uint32_t i = 0; i < n; i++) {
        if (!main_n || trace_before(k, order[main_n - 1], i))
            order[main_n++] = i;
        else if (stray_n < n / 8)
            strays[stray_n++] = i;
        else
            return 0;
    }
    qsort_r(strays, stray_n, sizeof *strays, compare_track_events, (void *)(uintptr_t)k);
    while (stray_n) { /* from the end, into the space of the removed events */
        if (main_n && trace_before(k, strays[stray_n - 1], order[main_n - 1]))
            order[--at] = order[--main_n];
        else
            order[--at] = strays[--stray_n];
    }
    return 1;
}

/* Keys of the radix sort: the start relative to the earliest, and below it the event's index. The
 * start loses low bits, at least 10 (1 ns), so that both fit and files in ns need one pass less;
 * `compare_track_events` orders equal keys. */
typedef struct packing {
    int64_t least;
    unsigned drop, index_bits, bits;
} packing;

static packing choose_packing(const trace_track *k)
{
    int64_t least = trace_start(k, 0), most = least;
    for (size_t i = 1; i < k->count; i++) {
        int64_t start = trace_start(k, i);
        least = start < least ? start : least;
        most = start > most ? start : most;
    }
    unsigned span = vp_bits_of((uint64_t)most - (uint64_t)least);
    packing p = {.least = least, .drop = 10, .index_bits = vp_bits_of(k->count - 1)};
    if (span + p.index_bits > 64 + p.drop)
        p.drop = span + p.index_bits - 64;
    p.bits = p.index_bits + (span > p.drop ? span - p.drop : 0);
    return p;
}

/* Orders events with equal keys, usually two or three. */
static void order_equals(const trace_track *k, uint32_t *v, size_t n)
{
    if (n > 16) {
        qsort_r(v, n, sizeof *v, compare_track_events, (void *)(uintptr_t)k);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        uint32_t e = v[i];
        size_t at = i;
        for (; at && trace_before(k, e, v[at - 1]); at--)
            v[at] = v[at - 1];
        v[at] = e;
    }
}

static void order_from_keys(uint32_t *order, const trace_track *k, const uint64_t *keys, packing p)
{
    uint64_t mask = (UINT64_C(1) << p.index_bits) - 1;
    for (size_t i = 0, end; i < k->count; i = end) {
        for (end = i; end < k->count && keys[end] >> p.index_bits == keys[i] >> p.index_bits; end++)
            order[end] = (uint32_t)(keys[end] & mask);
        order_equals(k, order + i, end - i);
    }
}

/* Of the two arrays that the keys alternate between, one becomes the order and the other scratch
 * memory for columns: touching new memory costs more than the sort. */
static int radix_sort(trace_track *k, sort_buffer *a, sort_buffer *b, int threads)
{
    size_t n = k->count;
    VP_TRY(vp_grow(&a->p, &a->cap, n, sizeof *a->p, VP_EVENTS_MAX));
    VP_TRY(vp_grow(&b->p, &b->cap, n, sizeof *b->p, VP_EVENTS_MAX));
    uint64_t *from = (uint64_t *)a->p;
    packing p = choose_packing(k);
    for (size_t i = 0; i < n; i++)
        from[i] = ((uint64_t)trace_start(k, i) - (uint64_t)p.least) >> p.drop << p.index_bits | i;
    bool in_a = vp_radix_sort(from, (uint64_t *)b->p, n, p.index_bits, p.bits) == from;
    sort_buffer *keys = in_a ? a : b;
    uint32_t *order = (uint32_t *)(in_a ? b : a)->p;
    order_from_keys(order, k, (const uint64_t *)keys->p, p);
    return permute_track(k, order, keys, threads);
}

/* An event is moved in place by at most this many events, and only while all moves together cost at
 * most a pass over the track. */
#define STEP_BACK_MAX 32u

static bool cover_attrs(trace_track *k)
{
    bool covered = true;
    for (size_t a = 0; a < SINK_ATTRS; a++)
        if (k->attr[a])
            covered = covered && trace_column_cover(k->attr[a], k->count) >= 0;
    return covered;
}

/* Moves an event before an earlier one, on both clocks. false: not possible in place. */
static bool move_back(trace_track *k, size_t from, size_t to)
{
    if (k->aligned.v &&
        !(trace_times_can_move(&k->own, from, to) && trace_times_move(&k->aligned, from, to)))
        return false;
    if (!trace_times_move(&k->own, from, to))
        return false;
    for (size_t a = 0; a < SINK_ATTRS; a++)
        if (k->attr[a])
            trace_column_move(k->attr[a], from, to);
    return true;
}

/* The usual case: a device clock swaps 1 % of neighbors. false: not such a track; some events may
 * have moved, but never past an equal one, so file order is preserved. */
static bool mend_swapped_neighbours(trace_track *k)
{
    size_t left = k->count;
    if (!cover_attrs(k))
        return false;
    int64_t last = k->count ? trace_start(k, 0) : 0;
    for (size_t i = 1; i < k->count; i++) {
        size_t to = i;
        int64_t start = trace_start(k, i);
        if (start > last) {
            last = start;
            continue;
        }
        while (to && i - to < STEP_BACK_MAX && !trace_before(k, (uint32_t)to - 1, (uint32_t)i))
            to--;
        if (to == i)
            continue;
        if ((to && !trace_before(k, (uint32_t)to - 1, (uint32_t)i)) || i - to > left)
            return false;
        left -= i - to;
        if (!move_back(k, i, to))
            return false;
    }
    return true;
}

static void sort_buffer_free(sort_buffer *buffer)
{
    vp_free(buffer->p);
}

int trace_sort_track(trace_track *k, int threads)
{
    VP_CLEANUP(sort_buffer_free) sort_buffer a = {0}, b = {0};
    if (mend_swapped_neighbours(k)) {
        k->sorted = true;
        return 0;
    }
    VP_TRY(vp_grow(&a.p, &a.cap, k->count / 2 + 1, sizeof *a.p, VP_EVENTS_MAX));
    uint32_t *order = (uint32_t *)a.p;
    int done = trace_merge_runs(k, order, &b);
    if (done == 0)
        done = merge_strays(k, order, &b);
    VP_TRY(done);
    return done ? permute_track(k, order, &b, threads) : radix_sort(k, &a, &b, threads);
}
