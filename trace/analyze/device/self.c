#include "trace/analyze/device/self.h"

#include "trace/analyze/device/self_walk.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* Self time (docs/reference/metrics.md#self-time): at every instant the most recently started open
 * event of a track owns the time; ties: the shorter, then file order. For nested events that is
 * duration minus direct children; events that cross are right, too, and Σ self is the track's busy
 * time. */

static bool crosses_open_event(const self_stack *st, int64_t start, int64_t end)
{
    const self_open *top = st->n ? &st->v[st->n - 1] : NULL;
    return top && top->end > start && end > top->end;
}

/* True if events of a track are never nested: spans on a GPU's stream or an XLA:CPU device run
 * concurrently. Their intervals may still contain each other (rounding, programmatic dependent
 * launch). */
bool nesting_none(const trace *t, const trace_track *k)
{
    return k->spans || k->one_timeline || t->processes[k->process].kind == SINK_PROCESS_GPU;
}

/* 1 us: formats round times to whole microseconds, so that events may seem to cross by less. */
#define ROUNDING_PS INT64_C(1000000)

int64_t nesting_add(nesting *n, int64_t start, int64_t end)
{
    int64_t more = end - start;
    if (n->inner == NESTING_SPANS)
        return more;
    if (end <= n->end) {
        n->inner += more;
        n->inner_calls++;
        return 0;
    }
    if (n->end > start && n->end - start > ROUNDING_PS && end - n->end > ROUNDING_PS) {
        more += n->inner;
        n->inner = NESTING_SPANS;
        n->inner_calls = 0;
    }
    n->end = end;
    return more;
}

/* ctx: self times by kind. */
static int give_to_kind(void *ctx, size_t kind, int64_t from, int64_t to)
{
    int64_t *self = ctx;
    self[kind] += to - from;
    return 0;
}

static int self_of_track(kind_times *kt, group_times *totals, nesting *open, self_stack *st,
                         const trace_track *k, const uint32_t *group_of)
{
    st->n = 0;
    st->now = k->count ? trace_start(k, 0) : 0;
    int64_t last = st->now;
    for (size_t i = 0; i < k->count; i++) {
        int64_t start = trace_start(k, i), end = start + trace_dur(k, i);
        uint32_t kind = trace_kind_of(k, i), group = group_of[kind];
        kt->calls[kind]++;
        totals[group].total_ps += nesting_add(&open[group], start, end);
        if (end == start)
            continue;
        VP_TRY(self_run_until(st, start, give_to_kind, kt->self_ps));
        kt->crossings += !k->one_timeline && crosses_open_event(st, start, end);
        VP_TRY(self_push(st, end, kind));
        last = end > last ? end : last;
    }
    return self_run_until(st, last, give_to_kind, kt->self_ps);
}

static int event_index_as_id(void *ctx, size_t i, size_t *id)
{
    (void)ctx;
    *id = i;
    return 0;
}

int self_pieces(const trace_track *k, self_id_fn *id, self_fn *fn, void *ctx)
{
    self_stack st = {0};
    int rc = self_walk(&st, k, id ? id : event_index_as_id, fn, ctx);
    vp_free(st.v);
    return rc;
}

/* Subtracts nested calls from the total, in which they count once. */
static void add_inner(group_times *sum, nesting *n)
{
    sum->inner_ps += n->inner > 0 ? n->inner : 0;
    sum->inner_calls += n->inner_calls;
    n->inner = n->inner_calls = 0;
}

int self_times(kind_times *kt, group_times *totals, track_set set, const uint32_t *group_of,
               uint32_t group_count)
{
    VP_CLEANUP(vp_free_ptr) nesting *open = vp_realloc_array(NULL, group_count, sizeof *open);
    self_stack st = {0};
    int rc = open ? 0 : vp_no_memory();
    for (size_t i = 0; rc == 0 && i < set.count; i++) {
        const trace_track *k = &set.t->tracks[set.tracks[i]];
        const nesting none = nesting_begin(nesting_none(set.t, k));
        /* then only the groups of its events are processed */
        const bool few = k->count < group_count;
        for (uint32_t g = 0; !few && g < group_count; g++)
            open[g] = none;
        for (size_t e = 0; few && e < k->count; e++)
            open[group_of[trace_kind_of(k, e)]] = none;
        rc = self_of_track(kt, totals, open, &st, k, group_of);
        for (uint32_t g = 0; !few && g < group_count; g++)
            add_inner(&totals[g], &open[g]);
        for (size_t e = 0; few && e < k->count; e++)
            add_inner(&totals[group_of[trace_kind_of(k, e)]], &open[group_of[trace_kind_of(k, e)]]);
    }
    vp_free(st.v);
    return rc;
}
