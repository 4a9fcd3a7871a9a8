/* Writes the events of a .pftrace from Trace Event JSON, one track after another, each in the order
 * of time: planned spans, with the marks between them. */
#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/pftrace/pft_json.h"
#include "trace/export/shared/stream_out.h"

/* ---- Marks ---------------------------------------------------------------------------------- */

static int by_mark_time(const void *a, const void *b)
{
    const pft_mark *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

int pft_json_begin_run(pft_json *x, const pft_queue *q)
{
    pft_run *r = &x->run;
    bool sorted = true;
    r->mark = r->mark_count = r->span = 0;
    for (uint32_t i = q->first; i != JP_NONE; i = x->marks[i].next) {
        VP_TRY(
            vp_grow(&r->marks, &r->mark_cap, r->mark_count + 1, sizeof *r->marks, VP_EVENTS_MAX));
        r->marks[r->mark_count++] = x->marks[i];
        sorted = sorted && (r->mark_count < 2 || r->marks[r->mark_count - 2].ns <= x->marks[i].ns);
    }
    if (!sorted)
        qsort(r->marks, r->mark_count, sizeof *r->marks, by_mark_time);
    for (size_t i = 0; i < EX_LANES_MAX; i++)
        r->open_until[i] = INT64_MIN;
    r->begun = true;
    return 0;
}

int pft_json_add_record(pft_json *x, int64_t record)
{
    vp_str bytes;
    VP_TRY(pft_spool_get(&x->spool, record, &bytes));
    return vp_buf_str(&x->writer.event, bytes);
}

/* ---- Threads -------------------------------------------------------------------------------- */

/* Ends up to and including that time. */
static int end_slices(pft_json *x, int64_t ns)
{
    pft_run *r = &x->run;
    for (uint32_t i = 0; i < x->plan.threads[x->thread].lanes; i++)
        if (r->open_until[i] <= ns)
            r->open_until[i] = INT64_MIN;
    return pft_ends_until(&x->ends, &x->writer, pft_json_ns(x, ns));
}

/* The track of a span that fits no lane. */
static int pool_track_of_span(pft_json *x, const jp_thread *t, int64_t start, int64_t end,
                              uint64_t *track)
{
    bool fresh;
    uint64_t next = pft_json_beside(x, x->beside_count) + x->pooled;
    VP_TRY(pft_pool_take(&x->pool, start, end, next, track, &fresh));
    x->pooled += fresh;
    return fresh ? pft_json_pool_track(x, t, *track) : 0;
}

/* Begins a slice, with the content of its begin and its end. */
static int begin_spooled_slice(pft_json *x, uint32_t event, uint64_t track, int64_t start)
{
    uint32_t end = x->plan.pair_count ? jp_end_of(&x->plan, event) : JP_NONE;
    pft_slice_begin(&x->writer, track);
    VP_TRY(pft_json_add_record(x, (int64_t)x->record[event] - 1));
    if (end != JP_NONE && x->record[end])
        VP_TRY(pft_json_add_record(x, (int64_t)x->record[end] - 1));
    return pft_put_event(&x->writer, pft_json_ns(x, start));
}

static int play_span(pft_json *x, const jp_thread *t, size_t span)
{
    pft_run *r = &x->run;
    const ex_spans *s = &t->spans;
    uint32_t event = trace_kind_of(&s->track, span), lane = jp_lane_of(&r->lanes, t, span);
    int64_t start = trace_start(&s->track, span), end = ex_spans_end(s, span);
    uint64_t track;
    if (!x->record[event]) /* it is not shown */
        return 0;
    VP_TRY(end_slices(x, start));
    if (lane == EX_LANE_ASYNC)
        VP_TRY(pool_track_of_span(x, t, start, end, &track));
    else
        track = pft_json_lane(x, x->thread, lane);
    VP_TRY(begin_spooled_slice(x, event, track, start));
    if (lane < EX_LANES_MAX && end > r->open_until[lane])
        r->open_until[lane] = end;
    return end == INT64_MAX ? 0 : pft_ends_add(&x->ends, pft_json_ns(x, end), track);
}

/* A flow of the enclosing slice must find it open. If the slice has ended and nothing followed, the
 * flow leaves from its end, as in the importer of JSON. */
static int play_flow(pft_json *x, const pft_mark *m)
{
    uint32_t lane = pft_mark_lane(m);
    int64_t open = x->run.open_until[lane];
    int64_t ns = m->ns;
    if (pft_mark_kind(m) == PFT_MARK_FLOW && open < ns)
        ns = open;
    if (ns == INT64_MIN) {
        x->lost++;
        return 0;
    }
    pft_point(&x->writer, pft_json_lane(x, x->thread, lane));
    VP_TRY(pft_json_add_record(x, pft_mark_record(m)));
    return pft_put_event(&x->writer, pft_json_ns(x, ns));
}

static int play_mark(pft_json *x, const pft_mark *m)
{
    if (pft_mark_kind(m) != PFT_MARK_INSTANT)
        return play_flow(x, m);
    VP_TRY(end_slices(x, m->ns));
    pft_instant(&x->writer, pft_json_lane(x, x->thread, 0));
    VP_TRY(pft_json_add_record(x, pft_mark_record(m)));
    return pft_put_event(&x->writer, pft_json_ns(x, m->ns));
}

/* True if the next span precedes the next mark. At equal times complete events do, and begins in
 * file order. */
static bool span_is_next(const pft_run *r, const ex_spans *s)
{
    const pft_mark *m = &r->marks[r->mark];
    if (r->span == s->track.count)
        return false;
    if (r->mark == r->mark_count)
        return true;
    if (trace_start(&s->track, r->span) != m->ns)
        return trace_start(&s->track, r->span) < m->ns;
    return trace_dur(&s->track, r->span) >= 0 || trace_kind_of(&s->track, r->span) < m->event;
}

static int play_thread(pft_json *x, const jp_thread *t)
{
    pft_run *r = &x->run;
    while (!ex_out_full(&x->out)) {
        if (span_is_next(r, &t->spans))
            VP_TRY(play_span(x, t, r->span++));
        else if (r->mark < r->mark_count)
            VP_TRY(play_mark(x, &r->marks[r->mark++]));
        else
            return 1;
    }
    return 0;
}

int pft_json_threads(pft_json *x)
{
    while (x->thread < x->thread_count && !ex_out_full(&x->out)) {
        jp_thread *t = &x->plan.threads[x->thread];
        if (!x->run.begun) {
            VP_TRY(pft_json_begin_run(x, &x->on_thread[x->thread]));
            x->run.lanes = jp_lanes_of(&x->plan, t);
        }
        int done = play_thread(x, t);
        VP_TRY(done);
        if (!done)
            return 0;
        VP_TRY(pft_ends_until(&x->ends, &x->writer, INT64_MAX));
        ex_spans_free(&t->spans);
        pft_pool_free(&x->pool);
        x->run.begun = false;
        x->thread++;
    }
    return x->thread == x->thread_count;
}

/* ---- Tracks outside of threads ----------------------------------------------------------------
 */

static int play_beside(pft_json *x, pft_beside_kind kind, uint64_t track, const pft_mark *m)
{
    pft_writer *w = &x->writer;
    if (kind == PFT_BESIDE_COUNTER) {
        pft_counter_double(w, track, m->what);
        return pft_put_event(w, pft_json_ns(x, m->ns));
    }
    if (pft_mark_kind(m) == PFT_MARK_BEGIN)
        pft_slice_begin(w, track);
    else if (pft_mark_kind(m) == PFT_MARK_END)
        pft_slice_close(w, track);
    else
        pft_instant(w, track);
    VP_TRY(pft_json_add_record(x, pft_mark_record(m)));
    return pft_put_event(w, pft_json_ns(x, m->ns));
}

int pft_json_besides(pft_json *x)
{
    pft_run *r = &x->run;
    while (x->beside < x->beside_count && !ex_out_full(&x->out)) {
        const pft_beside *b = &x->besides[x->beside];
        if (!r->begun)
            VP_TRY(pft_json_begin_run(x, &b->queue));
        for (; r->mark < r->mark_count && !ex_out_full(&x->out); r->mark++)
            VP_TRY(play_beside(x, b->kind, pft_json_beside(x, x->beside), &r->marks[r->mark]));
        if (r->mark < r->mark_count)
            return 0;
        r->begun = false;
        x->beside++;
    }
    return x->beside == x->beside_count;
}
