#include "trace/analyze/comm/slowed_ops.h"

#include <string.h>

#include "trace/analyze/result/order_statistics.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* Fewer calls, during copies or without, say nothing: the first ones are slow for other reasons. */
#define CALLS_LEAST 3u

enum { FREE, COPYING, WHENS };

/* The calls of one device that contain no other op, by kind and by whether the host copies. */
typedef struct device_calls {
    const trace *t;
    track_set set;
    const spans *copies;
    size_t *first;   /* by kind and FREE or COPYING, and the end of the last */
    size_t *count;   /* the same: calls that are listed */
    int64_t *dur_ps; /* NULL while they are counted */
} device_calls;

static void visit_track(device_calls *c, const trace_track *k)
{
    size_t near = 0;
    for (size_t i = 0; i < k->count; i++) {
        int64_t start = trace_aligned_start(k, i), end = trace_aligned_end(k, i);
        if (i + 1 < k->count && trace_aligned_end(k, i + 1) <= end)
            continue;
        size_t at = (size_t)trace_kind_of(k, i) * WHENS +
                    (spans_cut(c->copies, start, end, &near) > 0 ? COPYING : FREE);
        if (c->dur_ps)
            c->dur_ps[c->first[at] + c->count[at]] = end - start;
        c->count[at]++;
    }
}

static void visit_device(device_calls *c)
{
    for (size_t i = 0; i < c->set.count; i++)
        visit_track(c, &c->t->tracks[c->set.tracks[i]]);
}

static int64_t median_of_calls(const device_calls *c, size_t at)
{
    return select_kth(c->dur_ps + c->first[at], c->count[at], nearest_rank(c->count[at], 50));
}

/* What the calls of all kinds take longer during copies, by their medians. */
static int64_t slowed_ps(const device_calls *c)
{
    __int128 slowed = 0;
    int64_t most = 0;
    for (uint32_t kind = 0; kind < c->t->kind_count; kind++) {
        size_t at = (size_t)kind * WHENS;
        if (c->count[at + FREE] < CALLS_LEAST || c->count[at + COPYING] < CALLS_LEAST)
            continue;
        int64_t copying = median_of_calls(c, at + COPYING);
        slowed +=
            (__int128)(copying - median_of_calls(c, at + FREE)) * (int64_t)c->count[at + COPYING];
        most += copying * (int64_t)c->count[at + COPYING];
    }
    return slowed < 0 ? 0 : slowed < most ? (int64_t)slowed : most;
}

static int slowed_ops_of_device(vp_device *out, device_calls *c)
{
    size_t rows = (size_t)c->t->kind_count * WHENS, all = 0;
    memset(c->count, 0, rows * sizeof *c->count);
    c->dur_ps = NULL;
    visit_device(c);
    for (size_t i = 0; i < rows; i++) {
        c->first[i] = all;
        all += c->count[i];
    }
    memset(c->count, 0, rows * sizeof *c->count);
    VP_CLEANUP(vp_free_ptr) int64_t *dur_ps = vp_realloc_array(NULL, all + 1, sizeof *dur_ps);
    VP_NEED(dur_ps);
    c->dur_ps = dur_ps;
    visit_device(c);
    out->hygiene.copy_slowed_ps = slowed_ps(c);
    return 0;
}

int slowed_ops_collect(analysis *a, const spans *copies)
{
    size_t rows = (size_t)a->t->kind_count * WHENS;
    VP_CLEANUP(vp_free_ptr) size_t *first = vp_calloc(rows + 1, sizeof *first);
    VP_CLEANUP(vp_free_ptr) size_t *count = vp_calloc(rows + 1, sizeof *count);
    VP_NEED(first && count);
    for (size_t d = 0; d < a->device_count; d++) {
        device_calls c = {a->t, a->devices[d].set, copies, first, count, NULL};
        VP_TRY(slowed_ops_of_device(&a->h->devices[d], &c));
    }
    return 0;
}
