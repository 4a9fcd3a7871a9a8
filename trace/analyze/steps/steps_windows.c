/* Converts marks of steps to windows of each device. */
#include "trace/analyze/host/calls.h"
#include "trace/analyze/steps/steps_parts.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/links/run_launches.h"

static int64_t later_time(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int add_window(step_window_list *w, int64_t start, int64_t end, int64_t aligned,
                      uint32_t step)
{
    VP_TRY(vp_grow(&w->v, &w->cap, w->n + 1, sizeof *w->v, VP_EVENTS_MAX));
    w->v[w->n++] = (step_window){start, end, aligned, step};
    return 0;
}

/* Makes windows disjoint, so that no time counts twice: steps may overlap on the host, and a step
 * without launches may end before the work of the previous step. */
static void make_windows_disjoint(step_window_list *w)
{
    for (size_t i = 0; i < w->n; i++) {
        step_window *x = &w->v[i];
        int64_t start = i ? later_time(x->start, w->v[i - 1].end) : x->start;
        x->aligned += start - x->start;
        x->start = start;
        x->end = later_time(x->end, start);
    }
}

/* ---- Devices with their own clock (docs/reference/metrics.md#clocks) ---- */

/* The ops that start inside a mark, on the aligned clock. */
typedef struct op_range {
    int64_t first, last, aligned; /* on the device's clock: start of the first, end of the last;
                                     aligned: start of the first */
} op_range;

static void place_ops(op_range *r, const step_marks *m, track_set set)
{
    size_t hint = 0;
    for (size_t i = 0; i < set.count; i++) {
        const trace_track *k = &set.t->tracks[set.tracks[i]];
        for (size_t e = 0; e < k->count; e++) {
            int64_t at = trace_aligned_start(k, e), end = trace_end(k, e);
            uint32_t x = step_mark_at(m, at, &hint);
            if (x == STEP_NONE || at == m->v[x].end)
                continue;
            if (trace_start(k, e) < r[x].first) {
                r[x].first = trace_start(k, e);
                r[x].aligned = at;
            }
            r[x].last = later_time(r[x].last, end);
        }
    }
}

/* A step lasts from its first op to the first op of the next step. The last step has no next one,
 * so it ends with its own ops and counts as cut (docs/reference/metrics.md#clocks). */
static int windows_by_ops(step_window_list *w, const step_marks *m, track_set set, bool *cut)
{
    VP_CLEANUP(vp_free_ptr) op_range *r = vp_realloc_array(NULL, m->n + 1, sizeof *r);
    VP_NEED(r);
    for (size_t i = 0; i < m->n; i++)
        r[i] = (op_range){INT64_MAX, INT64_MIN, 0};
    place_ops(r, m, set);
    for (size_t i = 0; i < m->n; i++) {
        if (r[i].first == INT64_MAX)
            continue;
        if (w->n)
            w->v[w->n - 1].end = r[i].first;
        VP_TRY(add_window(w, r[i].first, r[i].last, r[i].aligned, m->v[i].step));
    }
    if (w->n)
        cut[w->v[w->n - 1].step] = true;
    make_windows_disjoint(w);
    return 0;
}

/* The step of a run: that of its launch, else the last step that began before it. */
static uint32_t step_of_run(const step_owner *o, const step_marks *host, const trace_track *k,
                            size_t run, size_t *hint)
{
    int64_t at = trace_aligned_start(k, run);
    uint32_t step = step_owner_of(o, k, run);
    if (step != STEP_NONE)
        return step;
    step_mark_at(host, at, hint);
    return host->n && host->v[*hint].start <= at ? host->v[*hint].step : STEP_NONE;
}

/* The program's steps on a device of which only modules are known: each lasts from its first run to
 * its last. */
static int marks_of_step_runs(step_marks *out, const analysis *a, const step_search *s,
                              const step_owner *o, uint32_t d)
{
    for (size_t i = 0; i < s->host.n; i++) {
        step_mark x = s->host.v[i];
        x.start = INT64_MAX;
        x.end = INT64_MIN;
        VP_TRY(step_marks_add(out, &x));
    }
    TRACE_EACH_OF(a->t, a->devices[d].process, i)
    {
        const trace_track *k = &a->t->tracks[i];
        size_t hint = 0;
        for (size_t e = 0; k->role == SINK_ROLE_MODULES && e < k->count; e++) {
            uint32_t step = step_of_run(o, &s->host, k, e, &hint);
            if (step == STEP_NONE)
                continue;
            int64_t start = trace_aligned_start(k, e);
            out->v[step].start = start < out->v[step].start ? start : out->v[step].start;
            out->v[step].end = later_time(out->v[step].end, trace_aligned_end(k, e));
        }
    }
    return 0;
}

/* Without modules, an op belongs to the last step that began before it. */
static void marks_by_time(step_marks *out, const step_search *s)
{
    for (size_t i = 0; i < out->n; i++) {
        out->v[i].start = s->host.v[i].start;
        out->v[i].end = i + 1 < out->n ? s->host.v[i + 1].start : s->host.v[i].end;
    }
}

static void drop_empty_marks(step_marks *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].start <= m->v[i].end)
            m->v[n++] = m->v[i];
    m->n = n;
}

static int on_own_clock(step_window_list *w, const analysis *a, const step_search *s,
                        const step_owner *o, uint32_t d, bool *cut)
{
    track_set set = a->devices[d].set;
    step_marks m = {0};
    if (s->source == VP_STEPS_LINE || s->source == VP_STEPS_MODULES)
        return windows_by_ops(w, &s->device[d], set, cut);
    int rc = marks_of_step_runs(&m, a, s, o, d);
    drop_empty_marks(&m);
    if (rc >= 0 && !m.n) {
        for (size_t i = 0; rc >= 0 && i < s->host.n; i++)
            rc = step_marks_add(&m, &s->host.v[i]);
        if (rc >= 0)
            marks_by_time(&m, s);
    }
    step_marks_order(&m);
    if (rc >= 0)
        rc = windows_by_ops(w, &m, set, cut);
    vp_free(m.v);
    return rc;
}

/* ---- Devices on the host's clock ---- */

static int as_marked(step_window_list *w, const step_marks *m)
{
    for (size_t i = 0; i < m->n; i++)
        VP_TRY(add_window(w, m->v[i].start, m->v[i].end, m->v[i].start, m->v[i].step));
    make_windows_disjoint(w);
    return 0;
}

/* A step lasts from one run to the next; the last run has no next one. */
static int from_run_to_run(step_window_list *w, const step_marks *m, bool *cut)
{
    VP_TRY(as_marked(w, m));
    for (size_t i = 0; i + 1 < w->n; i++)
        w->v[i].end = w->v[i + 1].start;
    if (w->n)
        cut[w->v[w->n - 1].step] = true;
    return 0;
}

/* The step of an op: by its launch or that of its run, or by attributes of the op. */
static uint32_t step_of_op(const analysis *a, step_owner *o, const trace_track *k, size_t e,
                           const module_run *run)
{
    uint32_t step = step_owner_of(o, k, e), call;
    if (step != STEP_NONE)
        return step;
    if ((call = calls_find(a->calls, k, e)) != UINT32_MAX)
        return step_owner_at(o, a->calls->call[call].track, call_start(a->calls, a->t, call));
    if (!run || run->launch_track == TRACE_NO_TRACK)
        return STEP_NONE;
    return step_owner_at(o, run->launch_track,
                         trace_start(&a->t->tracks[run->launch_track], run->launch_event));
}

/* The end of the device's work for each step; and for the first step, the start of its first op and
 * its smallest correlation id. */
typedef struct reach {
    int64_t *end;
    int64_t first, first_id;
    bool linked; /* the step of some op is known */
} reach;

/* The end of an op's work, for steps: XLA:CPU may record an end after that of the op's run. */
static int64_t end_of_work(const trace_track *k, size_t e, const module_run *run)
{
    int64_t end = trace_end(k, e);
    return run && run->end_ps < end ? run->end_ps : end;
}

static void reach_of_ops(reach *r, const analysis *a, step_owner *o, track_set set)
{
    for (size_t i = 0; i < set.count; i++) {
        const trace_track *k = &set.t->tracks[set.tracks[i]];
        for (size_t e = 0; e < k->count; e++) {
            int64_t id = trace_attr(k, SINK_CORRELATION, e);
            const module_run *run = run_launches_find(a->runs, k, e);
            uint32_t step = step_of_op(a, o, k, e, run);
            if (step == STEP_NONE)
                continue;
            r->linked = true;
            r->end[step] = later_time(r->end[step], end_of_work(k, e, run));
            if (step == 0 && trace_start(k, e) < r->first)
                r->first = trace_start(k, e);
            if (step == 0 && id != SINK_NO_VALUE && id < r->first_id)
                r->first_id = id;
        }
    }
}

/* True if an op without a step was launched before the first step. If its call was not recorded,
 * its correlation id decides: profilers number calls in order, so it is below that of the step's
 * first call. Without an id, the op must have ended when the step's own work begins. */
static bool is_launched_before(const analysis *a, const trace_track *k, size_t e,
                               const step_mark *first, const reach *r)
{
    uint32_t call = calls_find(a->calls, k, e);
    int64_t id = trace_attr(k, SINK_CORRELATION, e);
    if (call != UINT32_MAX)
        return call_start(a->calls, a->t, call) < first->start;
    return r->first < INT64_MAX &&
           ((id != SINK_NO_VALUE && id < r->first_id) || trace_end(k, e) <= r->first);
}

/* The end of device work from before the first step. Work that ends after the first step on the
 * host does not count (torch_tb_profiler), except on XLA:CPU, where the runs of the step are known.
 */
static int64_t work_before(const analysis *a, step_owner *o, track_set set, const step_mark *first,
                           const reach *r)
{
    int64_t until = first->start, latest = first->end;
    if (a->runs->count && r->first < INT64_MAX)
        latest = later_time(latest, r->first);
    for (size_t i = 0; i < set.count; i++) {
        const trace_track *k = &set.t->tracks[set.tracks[i]];
        for (size_t e = 0; e < k->count && trace_start(k, e) < latest; e++) {
            const module_run *run = run_launches_find(a->runs, k, e);
            int64_t end = end_of_work(k, e, run);
            if (end > until && end <= latest && step_of_op(a, o, k, e, run) == STEP_NONE &&
                is_launched_before(a, k, e, first, r))
                until = end;
        }
    }
    return until;
}

/* The thread that launches most of a device's ops; STEP_NONE: none. */
static int feeder_of(uint32_t *out, const analysis *a, track_set set)
{
    VP_CLEANUP(vp_free_ptr) uint64_t *n = vp_calloc((size_t)a->t->track_count + 1, sizeof *n);
    VP_NEED(n);
    for (size_t i = 0; i < set.count; i++) {
        const trace_track *k = &set.t->tracks[set.tracks[i]];
        for (size_t e = 0; e < k->count; e++) {
            uint32_t call = calls_find(a->calls, k, e);
            if (call != UINT32_MAX)
                n[a->calls->call[call].track]++;
        }
    }
    *out = STEP_NONE;
    for (uint32_t i = 0; i < a->t->track_count; i++)
        if (n[i] && (*out == STEP_NONE || n[i] > n[*out]))
            *out = i;
    return 0;
}

/* The marks for a device: those of the thread that launches its work, if it steps concurrently to
 * the main thread; else the main thread's. */
static int marks_for(step_marks *out, const analysis *a, const step_search *s, track_set set)
{
    uint32_t feeder = STEP_NONE;
    if (s->beside.n)
        VP_TRY(feeder_of(&feeder, a, set));
    for (size_t i = 0; i < s->host.n; i++)
        VP_TRY(step_marks_add(out, &s->host.v[i]));
    for (size_t i = 0; i < s->beside.n; i++) {
        const step_mark *x = &s->beside.v[i];
        if (x->track == feeder && x->step != STEP_NONE)
            out->v[x->step] = *x;
    }
    return 0;
}

/* Windows adjusted to the device (docs/reference/metrics.md#steps). The start is the later of the
 * host's start and the end of the previous window. The end is the later of the host's end and the
 * end of the last work launched in the step. */
static int adjust_windows(step_window_list *w, const analysis *a, const step_marks *m,
                          step_owner *o, track_set set, bool *linked)
{
    VP_CLEANUP(vp_free_ptr) int64_t *end = vp_realloc_array(NULL, m->n + 1, sizeof *end);
    VP_NEED(end);
    for (size_t i = 0; i < m->n; i++)
        end[i] = m->v[i].end;
    reach r = {.end = end, .first = INT64_MAX, .first_id = INT64_MAX};
    reach_of_ops(&r, a, o, set);
    for (size_t i = 0; i < m->n; i++)
        VP_TRY(add_window(w, m->v[i].start, end[i], m->v[i].start, m->v[i].step));
    if (r.linked && w->n)
        w->v[0].aligned = w->v[0].start = work_before(a, o, set, &m->v[0], &r);
    make_windows_disjoint(w);
    *linked = r.linked;
    return 0;
}

static int adjusted_to_feeder(step_window_list *w, const analysis *a, const step_search *s,
                              step_owner *o, track_set set, bool *linked)
{
    step_marks m = {0};
    int rc = marks_for(&m, a, s, set);
    if (rc >= 0)
        rc = adjust_windows(w, a, &m, o, set, linked);
    vp_free(m.v);
    return rc;
}

/* ---- Steps cut by the capture ---- */

static int64_t *events_in(const step_window_list *w, track_set set)
{
    int64_t *n = vp_calloc(w->n + 1, sizeof *n);
    for (size_t i = 0; n && i < set.count; i++) {
        const trace_track *k = &set.t->tracks[set.tracks[i]];
        size_t at = 0;
        for (size_t e = 0; e < k->count; e++) {
            while (at < w->n && w->v[at].end <= trace_start(k, e))
                at++;
            if (at < w->n && w->v[at].start <= trace_start(k, e))
                n[at]++;
        }
    }
    return n;
}

/* True if a step has fewer than 0.8 times the events of every other step that has any. The factor
 * is that of torch_tb_profiler; it refers to the smallest step, so that a light step does not count
 * as cut. */
static bool lacks_events(const int64_t *events, size_t n, size_t which)
{
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < n; i++)
        if (i != which && events[i] && events[i] < least)
            least = events[i];
    return least < INT64_MAX && events[which] * 5 < least * 4;
}

static int mark_cut(const step_window_list *w, track_set set, bool first, bool *cut)
{
    if (w->n < 2)
        return 0;
    VP_CLEANUP(vp_free_ptr) int64_t *events = events_in(w, set);
    VP_NEED(events);
    if (first && lacks_events(events, w->n, 0))
        cut[w->v[0].step] = true;
    if (lacks_events(events, w->n, w->n - 1))
        cut[w->v[w->n - 1].step] = true;
    return 0;
}

int step_windows_find(step_window_list *w, const analysis *a, const step_search *s, step_owner *o,
                      uint32_t d, bool *cut)
{
    track_set set = a->devices[d].set;
    bool own_line = s->source == VP_STEPS_LINE || s->source == VP_STEPS_MODULES, linked = own_line;
    if (!a->h->has_devices)
        return as_marked(w, &s->host);
    if (a->h->devices[d].own_clock)
        VP_TRY(on_own_clock(w, a, s, o, d, cut));
    else if (s->source == VP_STEPS_LINE)
        VP_TRY(as_marked(w, &s->device[d]));
    else if (s->source == VP_STEPS_MODULES)
        VP_TRY(from_run_to_run(w, &s->device[d], cut));
    else
        VP_TRY(adjusted_to_feeder(w, a, s, o, set, &linked));
    return linked ? mark_cut(w, set, own_line, cut) : 0;
}
