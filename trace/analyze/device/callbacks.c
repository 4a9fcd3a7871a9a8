#include "trace/analyze/device/callbacks.h"

#include "trace/analyze/device/hygiene.h"
#include "trace/analyze/device/sweep.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/order.h"
#include "trace/links/run_launches.h"

typedef struct callback_run {
    int64_t start_ps, end_ps;
    bool has_callbacks;
    uint32_t launch_track; /* TRACE_NO_TRACK: the launching thread did not wait for the run */
} callback_run;

typedef struct callback_walk {
    const analysis *a;
    uint8_t *is_callback; /* by kind */
    bool *has_callbacks;  /* by run */
    callback_run *runs;   /* of one device */
    /* One device: callback ops, the gaps after their runs, other ops. */
    spans callbacks, gaps, work;
    uint8_t *counted; /* by track */
} callback_walk;

static int find_ops(callback_walk *w, uint32_t device)
{
    const run_launches *all = w->a->runs;
    track_set set = w->a->devices[device].set;
    for (size_t i = 0; i < set.count; i++) {
        const trace_track *k = &set.t->tracks[set.tracks[i]];
        for (size_t e = 0; e < k->count; e++) {
            bool callback = w->is_callback[trace_kind_of(k, e)];
            const module_run *run = callback ? run_launches_find(all, k, e) : NULL;
            if (run)
                w->has_callbacks[run - all->run] = true;
            VP_TRY(
                spans_add(callback ? &w->callbacks : &w->work, trace_start(k, e), trace_end(k, e)));
        }
    }
    VP_TRY(spans_union(&w->work));
    return spans_union(&w->callbacks);
}

static int by_run_start(const void *a, const void *b)
{
    const callback_run *x = a, *y = b;
    return vp_order(x->start_ps, y->start_ps);
}

static size_t list_runs(callback_walk *w, uint32_t device)
{
    const run_launches *all = w->a->runs;
    const trace *t = w->a->t;
    size_t n = 0;
    for (size_t i = 0; i < all->count; i++) {
        const module_run *x = &all->run[i];
        if (x->process != w->a->devices[device].process)
            continue;
        bool waited = x->launch_track != TRACE_NO_TRACK &&
                      trace_end(&t->tracks[x->launch_track], x->launch_event) >= x->end_ps;
        w->runs[n++] = (callback_run){.start_ps = x->start_ps,
                                      .end_ps = x->end_ps,
                                      .has_callbacks = w->has_callbacks[i],
                                      .launch_track = waited ? x->launch_track : TRACE_NO_TRACK};
    }
    vp_put_in_order(w->runs, n, sizeof *w->runs, by_run_start);
    return n;
}

/* The gap after a run with callbacks that its launching thread waited for. Otherwise the host
 * would prepare the next launch while the other ops of the run work. */
static int add_held_gaps(callback_walk *w, vp_hygiene *out, size_t n)
{
    int64_t end = INT64_MIN;
    size_t near = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        const callback_run *x = &w->runs[i];
        end = x->end_ps > end ? x->end_ps : end;
        int64_t gap = w->runs[i + 1].start_ps - end,
                work = spans_cut(&w->work, x->start_ps, x->end_ps, &near);
        if (!x->has_callbacks || x->launch_track == TRACE_NO_TRACK || gap <= 0 || work <= 0)
            continue;
        out->callback_held_ps += gap < work ? gap : work;
        w->counted[x->launch_track] = 1;
        VP_TRY(spans_add(&w->gaps, end, end + gap));
    }
    return 0;
}

/* Events of the launching threads in these times: recording them takes a part of it. */
static void count_events(callback_walk *w, vp_hygiene *out)
{
    for (uint32_t i = 0; i < w->a->t->track_count; i++) {
        const trace_track *k = &w->a->t->tracks[i];
        size_t near = 0;
        for (size_t e = 0; w->counted[i] && e < k->count; e++)
            out->callback_events += spans_contain(&w->callbacks, trace_start(k, e), &near);
        w->counted[i] = 0;
    }
}

static int callbacks_of_device(callback_walk *w, uint32_t device)
{
    vp_hygiene *out = &w->a->h->devices[device].hygiene;
    w->callbacks.n = w->gaps.n = w->work.n = 0;
    if (out->callback_ps <= 0)
        return 0;
    VP_TRY(find_ops(w, device));
    VP_TRY(add_held_gaps(w, out, list_runs(w, device)));
    VP_TRY(spans_union(&w->gaps));
    VP_TRY(spans_unite(&w->callbacks, &w->gaps));
    count_events(w, out);
    return 0;
}

static int walk_devices(callback_walk *w)
{
    const trace *t = w->a->t;
    w->is_callback = vp_calloc((size_t)t->kind_count + 1, 1);
    w->counted = vp_calloc((size_t)t->track_count + 1, 1);
    w->has_callbacks = vp_calloc(w->a->runs->count + 1, sizeof *w->has_callbacks);
    w->runs = vp_calloc(w->a->runs->count + 1, sizeof *w->runs);
    VP_NEED(w->is_callback && w->counted && w->has_callbacks && w->runs);
    for (uint32_t k = 0; k < t->kind_count; k++)
        w->is_callback[k] = t->kinds[k].is_op && op_is_callback(t, &t->kinds[k]);
    for (size_t d = 0; d < w->a->device_count; d++)
        VP_TRY(callbacks_of_device(w, (uint32_t)d));
    return 0;
}

int callbacks_collect(analysis *a)
{
    callback_walk w = {.a = a};
    bool any = false;
    for (size_t d = 0; d < a->device_count; d++)
        any = any || a->h->devices[d].hygiene.callback_ps > 0;
    int rc = any && a->runs->count ? walk_devices(&w) : 0;
    vp_free(w.is_callback);
    vp_free(w.counted);
    vp_free(w.has_callbacks);
    vp_free(w.runs);
    spans_free(&w.callbacks);
    spans_free(&w.gaps);
    spans_free(&w.work);
    return rc;
}
