/* Marks of steps become windows of each device. */
#include "trace/analyze/host/calls.h"
#include "trace/analyze/steps/steps_parts.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

static int64_t later(int64_t a, int64_t b)
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

/* Steps may overlap on the host, and a step that launches nothing may end before the work of the
 * one before does: no instant counts twice. */
static void settle(step_window_list *w)
{
    for (size_t i = 0; i < w->n; i++) {
        step_window *x = &w->v[i];
        int64_t start = i ? later(x->start, w->v[i - 1].end) : x->start;
        x->aligned += start - x->start;
        x->start = start;
        x->end = later(x->end, start);
    }
}

/* ---- Devices with a clock of their own (analysis.md 6.0) ---- */

/* The ops whose aligned start a mark holds. */
typedef struct op_range {
    int64_t first, last, aligned; /* device clock: first start, last end; the first's aligned one */
} op_range;

static void place_ops(op_range *r, const step_marks *m, track_set set)
{
    size_t hint = 0;
    for (size_t i = 0; i < set.count; i++) {
        const trace_track *k = &set.t->tracks[set.tracks[i]];
        for (size_t e = 0; e < k->count; e++) {
            int64_t at = trace_aligned_start(k, e), end = k->start_ps[e] + k->dur_ps[e];
            uint32_t x = step_mark_at(m, at, &hint);
            if (x == STEP_NONE || at == m->v[x].end)
                continue;
            if (k->start_ps[e] < r[x].first) {
                r[x].first = k->start_ps[e];
                r[x].aligned = at;
            }
            r[x].last = later(r[x].last, end);
        }
    }
}

/* From its first op to the next step's first; nothing says where the last one ends, but its own
 * ops: it is cut. */
static int windows_by_ops(step_window_list *w, const step_marks *m, track_set set, bool *cut)
{
    VP_CLEANUP(vp_free_ptr) op_range *r = vp_realloc_array(NULL, m->n + 1, sizeof *r);
    if (!r)
        return vp_fail(VP_ENOMEM, "out of memory");
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
    settle(w);
    return 0;
}

/* The step of a module's run: what launched it says, else the last step that began before it. */
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

/* The program's steps on a device that only knows modules: from the first to the last run of each.
 */
static int marks_of_runs(step_marks *out, const analysis *a, const step_search *s,
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
            out->v[step].end = later(out->v[step].end, trace_aligned_end(k, e));
        }
    }
    return 0;
}

/* Without modules: ops belong to the last step that began before them. */
static void marks_by_time(step_marks *out, const step_search *s)
{
    for (size_t i = 0; i < out->n; i++) {
        out->v[i].start = s->host.v[i].start;
        out->v[i].end = i + 1 < out->n ? s->host.v[i + 1].start : s->host.v[i].end;
    }
}

static void drop_empty(step_marks *m)
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
    int rc = marks_of_runs(&m, a, s, o, d);
    drop_empty(&m);
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
    settle(w);
    return 0;
}

/* From run to run; the last has no next one. */
static int from_run_to_run(step_window_list *w, const step_marks *m, bool *cut)
{
    VP_TRY(as_marked(w, m));
    for (size_t i = 0; i + 1 < w->n; i++)
        w->v[i].end = w->v[i + 1].start;
    if (w->n)
        cut[w->v[w->n - 1].step] = true;
    return 0;
}

/* An op's step, by its launch or by what it says. */
static uint32_t step_of_op(const analysis *a, step_owner *o, const trace_track *k, size_t e)
{
    uint32_t step = step_owner_of(o, k, e), call;
    if (step != STEP_NONE || (call = calls_find(a->calls, k, e)) == UINT32_MAX)
        return step;
    return step_owner_at(o, a->calls->call[call].track, call_start(a->calls, a->t, call));
}

/* Until when the device works for each step; of the first one the first op's start and the least
 * correlation id. */
typedef struct reach {
    int64_t *end;
    int64_t first, first_id;
    bool linked; /* some op's step is known */
} reach;

static void reach_of_ops(reach *r, const analysis *a, step_owner *o, track_set set)
{
    for (size_t i = 0; i < set.count; i++) {
        const trace_track *k = &set.t->tracks[set.tracks[i]];
        for (size_t e = 0; e < k->count; e++) {
            int64_t id = trace_attr(k, SINK_CORRELATION, e);
            uint32_t step = step_of_op(a, o, k, e);
            if (step == STEP_NONE)
                continue;
            r->linked = true;
            r->end[step] = later(r->end[step], k->start_ps[e] + k->dur_ps[e]);
            if (step == 0 && k->start_ps[e] < r->first)
                r->first = k->start_ps[e];
            if (step == 0 && id != SINK_NO_VALUE && id < r->first_id)
                r->first_id = id;
        }
    }
}

/* Whether an op of no step was launched before the first one. Profilers number calls as they come,
 * so an id below the first step's own says so where the call itself was not recorded; without any
 * id it must be done when the step's own work begins. */
static bool is_before(const analysis *a, const trace_track *k, size_t e, const step_mark *first,
                      const reach *r)
{
    uint32_t call = calls_find(a->calls, k, e);
    int64_t id = trace_attr(k, SINK_CORRELATION, e);
    if (call != UINT32_MAX)
        return call_start(a->calls, a->t, call) < first->start;
    return r->first < INT64_MAX &&
           ((id != SINK_NO_VALUE && id < r->first_id) || k->start_ps[e] + k->dur_ps[e] <= r->first);
}

/* Until when the device still works for what came before the first step, at most until that ends
 * on the host (torch_tb_profiler). */
static int64_t work_before(const analysis *a, step_owner *o, track_set set, const step_mark *first,
                           const reach *r)
{
    int64_t until = first->start;
    for (size_t i = 0; i < set.count; i++) {
        const trace_track *k = &set.t->tracks[set.tracks[i]];
        for (size_t e = 0; e < k->count && k->start_ps[e] < first->end; e++) {
            int64_t end = k->start_ps[e] + k->dur_ps[e];
            if (end > until && end <= first->end && step_of_op(a, o, k, e) == STEP_NONE &&
                is_before(a, k, e, first, r))
                until = end;
        }
    }
    return until;
}

/* The thread that launches most of a device's ops; STEP_NONE without any. */
static int feeder_of(uint32_t *out, const analysis *a, track_set set)
{
    VP_CLEANUP(vp_free_ptr) uint64_t *n = vp_calloc((size_t)a->t->track_count + 1, sizeof *n);
    if (!n)
        return vp_fail(VP_ENOMEM, "out of memory");
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

/* When the steps begin and end for a device: on the thread that feeds it, where that counts them
 * itself beside the main one. */
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

/* Start = the end of the one before, at least the host's start; end = the host's end, at least that
 * of the last work launched in the step. XLA:CPU does not tell what launched its ops: there the
 * step is what the host says. */
static int adjusted(step_window_list *w, const analysis *a, const step_marks *m, step_owner *o,
                    track_set set, bool *linked)
{
    VP_CLEANUP(vp_free_ptr) int64_t *end = vp_realloc_array(NULL, m->n + 1, sizeof *end);
    if (!end)
        return vp_fail(VP_ENOMEM, "out of memory");
    for (size_t i = 0; i < m->n; i++)
        end[i] = m->v[i].end;
    reach r = {.end = end, .first = INT64_MAX, .first_id = INT64_MAX};
    reach_of_ops(&r, a, o, set);
    for (size_t i = 0; i < m->n; i++)
        VP_TRY(add_window(w, m->v[i].start, end[i], m->v[i].start, m->v[i].step));
    if (r.linked && w->n)
        w->v[0].aligned = w->v[0].start = work_before(a, o, set, &m->v[0], &r);
    settle(w);
    *linked = r.linked;
    return 0;
}

static int adjusted_to_feeder(step_window_list *w, const analysis *a, const step_search *s,
                              step_owner *o, track_set set, bool *linked)
{
    step_marks m = {0};
    int rc = marks_for(&m, a, s, set);
    if (rc >= 0)
        rc = adjusted(w, a, &m, o, set, linked);
    vp_free(m.v);
    return rc;
}

/* ---- Steps that the capture cuts ---- */

static int64_t *events_in(const step_window_list *w, track_set set)
{
    int64_t *n = vp_calloc(w->n + 1, sizeof *n);
    for (size_t i = 0; n && i < set.count; i++) {
        const trace_track *k = &set.t->tracks[set.tracks[i]];
        size_t at = 0;
        for (size_t e = 0; e < k->count; e++) {
            while (at < w->n && w->v[at].end <= k->start_ps[e])
                at++;
            if (at < w->n && w->v[at].start <= k->start_ps[e])
                n[at]++;
        }
    }
    return n;
}

/* Below 0.8 times the events of every other step that has any (torch_tb_profiler's share, but of
 * the least, so that no light step falls under it). */
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
    if (!events)
        return vp_fail(VP_ENOMEM, "out of memory");
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
