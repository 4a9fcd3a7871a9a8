#include "trace/analyze/device/slowed_calls.h"

#include "trace/analyze/result/order_statistics.h"
#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

/* Fewer calls are no evidence: the first ones are slow for other reasons. */
#define CALLS_LEAST 3u

enum { OUTSIDE, DURING, WHENS };

typedef struct call_durations {
    const slowed_groups *g;
    const spans *during;
    size_t *first, *count; /* by row and OUTSIDE or DURING */
    int64_t *dur_ps;       /* NULL while calls are counted */
} call_durations;

static void visit_track(call_durations *c, const trace_track *k)
{
    size_t near = 0;
    for (size_t e = 0; e < k->count; e++) {
        int64_t start = trace_aligned_start(k, e), end = trace_aligned_end(k, e);
        uint32_t row = c->g->row_of[trace_kind_of(k, e)];
        bool contains = e + 1 < k->count && trace_aligned_end(k, e + 1) <= end;
        if (row == VP_MAP_NONE || (c->g->innermost && contains))
            continue;
        size_t at =
            (size_t)row * WHENS + (spans_cut(c->during, start, end, &near) > 0 ? DURING : OUTSIDE);
        if (c->dur_ps)
            c->dur_ps[c->first[at] + c->count[at]] = end - start;
        c->count[at]++;
    }
}

static void visit_set(call_durations *c, track_set set)
{
    for (size_t i = 0; i < set.count; i++)
        visit_track(c, &set.t->tracks[set.tracks[i]]);
}

static int64_t median_of_calls(const call_durations *c, size_t at)
{
    return select_kth(c->dur_ps + c->first[at], c->count[at], nearest_rank(c->count[at], 50));
}

static slowed_row compare_row(const call_durations *c, size_t row)
{
    size_t at = row * WHENS;
    if (c->count[at + OUTSIDE] < CALLS_LEAST || c->count[at + DURING] < CALLS_LEAST)
        return (slowed_row){0};
    int64_t median = median_of_calls(c, at + DURING);
    return (slowed_row){.median_ps = median,
                        .longer_ps = median - median_of_calls(c, at + OUTSIDE),
                        .calls = (int64_t)c->count[at + DURING]};
}

int slowed_calls_compare(slowed_row *out, track_set set, const slowed_groups *g,
                         const spans *during)
{
    size_t lists = g->rows * WHENS, all = 0;
    VP_CLEANUP(vp_free_ptr) size_t *first = vp_calloc(lists + 1, sizeof *first);
    VP_CLEANUP(vp_free_ptr) size_t *count = vp_calloc(lists + 1, sizeof *count);
    VP_NEED(first && count);
    call_durations c = {.g = g, .during = during, .first = first, .count = count};
    visit_set(&c, set);
    for (size_t i = 0; i < lists; i++) {
        first[i] = all;
        all += count[i];
        count[i] = 0;
    }
    VP_CLEANUP(vp_free_ptr) int64_t *dur_ps = vp_realloc_array(NULL, all + 1, sizeof *dur_ps);
    VP_NEED(dur_ps);
    c.dur_ps = dur_ps;
    visit_set(&c, set);
    for (size_t row = 0; row < g->rows; row++)
        out[row] = compare_row(&c, row);
    return 0;
}
