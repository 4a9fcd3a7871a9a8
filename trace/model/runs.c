#include "trace/model/runs.h"

#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

/* Maximum number of runs, and of passes over all events for merging: a radix sort costs as much. Of
 * the iterations of a loop only neighbors overlap, however many there are. */
#define RUNS_MAX 2048u
#define PASSES_MAX 6u

typedef struct merger {
    const trace_track *k;
    uint32_t *order;
    sort_buffer *buffer;
    uint64_t moved; /* total of moved events */
    uint32_t bounds[RUNS_MAX + 1];
} merger;

/* Finds the starts of the runs, and the end of the last; returns their number, or 0 if there are
 * too many. */
static size_t find_runs(merger *m)
{
    uint32_t count = (uint32_t)m->k->count;
    size_t n = 0;
    int64_t last = 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t start = trace_start(m->k, i), before = last;
        last = start;
        if (i && (start > before || trace_before(m->k, i - 1, i)))
            continue;
        if (n == RUNS_MAX)
            return 0;
        m->bounds[n++] = i;
    }
    m->bounds[n] = count;
    return n;
}

/* The first of the sorted order[from, to) after event e, or `to`. */
static size_t first_event_behind(const trace_track *k, const uint32_t *order, size_t from,
                                 size_t to, uint32_t e)
{
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (trace_before(k, e, order[middle]))
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

/* Merges the neighbors order[from, middle) and order[middle, to) where they overlap. */
static int merge_neighbour_runs(merger *m, size_t from, size_t middle, size_t to)
{
    const trace_track *k = m->k;
    uint32_t *order = m->order;
    sort_buffer *buffer = m->buffer;
    from = first_event_behind(k, order, from, middle, order[middle]);
    to = first_event_behind(k, order, middle, to, order[middle - 1]);
    size_t n = middle - from, i = 0;
    m->moved += to - from;
    VP_TRY(vp_grow(&buffer->p, &buffer->cap, n / 2 + 1, sizeof *buffer->p, VP_EVENTS_MAX));
    uint32_t *left = (uint32_t *)buffer->p;
    memcpy(left, order + from, n * sizeof *left);
    while (i < n && middle < to)
        order[from++] = trace_before(k, order[middle], left[i]) ? order[middle++] : left[i++];
    memcpy(order + from, left + i, (n - i) * sizeof *left);
    return 0;
}

/* Merges pairs of neighbors; an unpaired last one remains. *runs is the number left. */
static int merge_run_pairs(merger *m, size_t *runs)
{
    size_t kept = 0;
    for (size_t i = 0; i < *runs; i += 2) {
        if (i + 1 < *runs)
            VP_TRY(merge_neighbour_runs(m, m->bounds[i], m->bounds[i + 1], m->bounds[i + 2]));
        m->bounds[kept++] = m->bounds[i];
    }
    m->bounds[kept] = m->bounds[*runs];
    *runs = kept;
    return 0;
}

int trace_merge_runs(const trace_track *k, uint32_t *order, sort_buffer *buffer)
{
    merger m = {.k = k, .order = order, .buffer = buffer};
    size_t runs = find_runs(&m);
    for (size_t i = 0; runs && i < k->count; i++)
        order[i] = (uint32_t)i;
    while (runs > 1 && m.moved < PASSES_MAX * (uint64_t)k->count)
        VP_TRY(merge_run_pairs(&m, &runs));
    return runs == 1;
}
