#include "trace/analyze/host/threads.h"

#include <stdlib.h>

#include "trace/analyze/device/ops.h"
#include "trace/analyze/device/self.h"
#include "trace/analyze/device/sweep.h"
#include "trace/analyze/host/host_kinds.h"
#include "trace/analyze/host/user_kinds.h"
#include "trace/analyze/host/zone_callers.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

/* Work is self time outside of waiting zones; a waiting zone waits including all nested calls.
 * Waiting for locks is always a loss. Other waiting is a loss only on the thread that determines
 * the duration of the program: the step thread within its steps, or without steps the thread with
 * the most work. Waiting for work is no loss there, nor is waiting while two or more other threads
 * of its process work, because it has distributed its work. */

/* Maximum number of listed threads of a host: those with the most work. */
#define THREADS_MAX 256u

typedef struct wait_span {
    int64_t start, end;
    uint32_t kind;
    bool nested; /* it is inside another zone */
} wait_span;

typedef struct thread {
    uint32_t track;
    int64_t end, work_ps, wait_ps, zone_ps;
    uint32_t zone; /* the zone with the most of its work: the kind with the most self time */
    size_t first_wait, wait_count, steps;
    spans work;
} thread;

typedef struct table {
    analysis *a;
    uint8_t *waits;    /* wait_kind by kind */
    uint32_t *callers; /* zone_callers.h */
    grown *grown;
    int64_t *ps; /* by kind: time of the current thread */
    uint32_t *touched;
    size_t touched_count;
    thread *threads; /* of the current process */
    size_t count, cap;
    wait_span *wait;
    size_t wait_n, wait_cap, wait_at;
    const trace_track *k; /* at hand */
    int64_t wait_until;
} table;

/* ---- One thread ---- */

static int thread_on_event(void *ctx, size_t i, size_t *id)
{
    table *b = ctx;
    int64_t start = trace_start(b->k, i), end = start + trace_dur(b->k, i);
    thread *x = &b->threads[b->count - 1];
    bool nested = x->end > start;
    x->end = nested && x->end > end ? x->end : end;
    *id = trace_kind_of(b->k, i);
    if (!b->waits[*id] || start < b->wait_until || end == start)
        return 0;
    b->wait_until = end;
    VP_TRY(vp_grow(&b->wait, &b->wait_cap, b->wait_n + 1, sizeof *b->wait, VP_EVENTS_MAX));
    b->wait[b->wait_n++] = (wait_span){start, end, trace_kind_of(b->k, i), nested};
    return 0;
}

static int thread_on_piece(void *ctx, size_t id, int64_t start, int64_t end)
{
    table *b = ctx;
    thread *x = &b->threads[b->count - 1];
    while (b->wait_at < b->wait_n && b->wait[b->wait_at].end <= start)
        b->wait_at++;
    if (b->wait_at < b->wait_n && b->wait[b->wait_at].start <= start) {
        x->wait_ps += end - start;
        return grown_add(b->grown, b->wait[b->wait_at].kind, start, end);
    }
    x->work_ps += end - start;
    if (!b->ps[id])
        b->touched[b->touched_count++] = (uint32_t)id;
    b->ps[id] += end - start;
    VP_TRY(spans_add(&x->work, start, end));
    return grown_add(b->grown, (uint32_t)id, start, end);
}

static int table_add_thread(table *b, uint32_t track)
{
    const trace_track *k = b->k = &b->a->t->tracks[track];
    if (k->spans || !k->count) /* async work has no thread */
        return 0;
    VP_TRY(vp_grow(&b->threads, &b->cap, b->count + 1, sizeof *b->threads, VP_TRACKS_MAX));
    b->threads[b->count++] =
        (thread){.track = track, .end = trace_start(k, 0), .first_wait = b->wait_n};
    b->wait_until = INT64_MIN;
    b->wait_at = b->wait_n;
    b->touched_count = 0;
    VP_TRY(grown_track(b->grown, track));
    VP_TRY(self_pieces(k, thread_on_event, thread_on_piece, b));
    thread *x = &b->threads[b->count - 1];
    x->wait_count = b->wait_n - x->first_wait;
    for (size_t i = 0; i < b->touched_count; i++) {
        uint32_t kind = b->touched[i];
        if (b->ps[kind] > x->zone_ps) {
            x->zone = kind;
            x->zone_ps = b->ps[kind];
        }
        b->ps[kind] = 0;
    }
    return 0;
}

/* ---- Waits of the threads of a process ---- */

static void count_steps(table *b)
{
    const analysis *a = b->a;
    for (size_t i = 0; a->marked_track && i < a->h->steps.count; i++)
        for (size_t k = 0; k < b->count; k++)
            b->threads[k].steps += b->threads[k].track == a->marked_track[i];
}

static const thread *critical_thread(const table *b)
{
    const thread *best = NULL;
    for (size_t i = 0; i < b->count; i++) {
        const thread *x = &b->threads[i];
        if (!best || x->steps > best->steps ||
            (x->steps == best->steps && x->work_ps > best->work_ps))
            best = x;
    }
    return best;
}

typedef struct edge {
    int64_t at;
    int change;
} edge;

static int by_edge_time(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : x->change - y->change;
}

/* Times at which two or more threads other than `but` work. */
static int shared_work(spans *out, const table *b, const thread *but)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; i < b->count; i++)
        n += &b->threads[i] == but ? 0 : 2 * b->threads[i].work.n;
    VP_CLEANUP(vp_free_ptr) edge *v = vp_calloc(n + 1, sizeof *v);
    VP_NEED(v);
    for (size_t i = 0; i < b->count; i++)
        for (size_t k = 0; &b->threads[i] != but && k < b->threads[i].work.n; k++) {
            v[at++] = (edge){b->threads[i].work.v[k].start, 1};
            v[at++] = (edge){b->threads[i].work.v[k].end, -1};
        }
    qsort(v, n, sizeof *v, by_edge_time);
    int64_t since = 0;
    int depth = 0;
    for (size_t i = 0; i < n; i++) {
        int before = depth;
        depth += v[i].change;
        if (before < 2 && depth >= 2)
            since = v[i].at;
        if (before >= 2 && depth < 2)
            VP_TRY(spans_add(out, since, v[i].at));
    }
    return 0;
}

/* The loss of a thread's waiting, by the kind of wait. A wait counts up to the end of the step in
 * which it begins. */
static int64_t lost_of(const table *b, const thread *x, const thread *critical, const spans *shared,
                       const wait_span *w, size_t *step, size_t *near)
{
    const analysis *a = b->a;
    int64_t end = w->end;
    if (b->waits[w->kind] == WAIT_LOCK)
        return end - w->start;
    if (x != critical || (b->waits[w->kind] == WAIT_IDLE && !w->nested))
        return 0;
    while (x->steps && *step < a->h->steps.count && a->marked_end_ps[*step] <= w->start)
        ++*step;
    if (x->steps && (*step == a->h->steps.count || a->marked_start_ps[*step] > w->start))
        return 0;
    if (x->steps && a->marked_end_ps[*step] < end)
        end = a->marked_end_ps[*step];
    return end - w->start - spans_cut(shared, w->start, end, near);
}

static void find_lost_waits(table *b, vp_thread *out, const thread *x, const thread *critical,
                            const spans *shared, uint32_t *worst)
{
    size_t step = 0, near = 0, n = 0;
    int64_t most = 0;
    const wait_span *w = b->wait + x->first_wait;
    for (size_t i = 0; i < x->wait_count; i++) {
        int64_t ps = lost_of(b, x, critical, shared, &w[i], &step, &near);
        out->lost_ps += ps;
        if (ps && !b->ps[w[i].kind])
            b->touched[n++] = w[i].kind;
        b->ps[w[i].kind] += ps;
    }
    for (size_t i = 0; i < n; i++) {
        if (b->ps[b->touched[i]] > most) {
            most = b->ps[b->touched[i]];
            *worst = b->touched[i];
        }
        b->ps[b->touched[i]] = 0;
    }
    for (size_t i = 0; most && i < x->wait_count; i++) {
        out->wait_calls += w[i].kind == *worst;
        if (w[i].kind == *worst && w[i].end - w[i].start > out->wait_dur_ps) {
            out->wait_dur_ps = w[i].end - w[i].start;
            out->wait_start_ps = w[i].start - b->a->h->origin_ps;
        }
    }
}

static int emit_thread(table *b, uint32_t device, const thread *x, const thread *critical,
                       const spans *shared)
{
    host_result *h = b->a->h;
    const trace *t = b->a->t;
    const trace_track *k = &t->tracks[x->track];
    uint32_t worst = SINK_NONE;
    vp_thread out = {.device = device,
                     .steps = x->steps > 0,
                     .start_ps = trace_start(k, 0) - h->origin_ps,
                     .end_ps = x->end - h->origin_ps,
                     .work_ps = x->work_ps,
                     .wait_ps = x->wait_ps,
                     .zone_ps = x->zone_ps};
    find_lost_waits(b, &out, x, critical, shared, &worst);
    VP_TRY(thread_text(&out.name, h, t, x->track));
    if (x->zone_ps) {
        VP_TRY(host_text(&out.zone, h, trace_str(t, t->kinds[x->zone].name)));
        VP_TRY(user_frame_text(&out.zone_caller, h, t, b->callers[x->zone]));
    }
    if (worst != SINK_NONE) {
        VP_TRY(host_text(&out.wait, h, trace_str(t, t->kinds[worst].name)));
        VP_TRY(user_frame_text(&out.wait_caller, h, t, b->callers[worst]));
    }
    VP_TRY(vp_grow(&h->threads, &h->thread_cap, h->thread_count + 1, sizeof out, VP_TRACKS_MAX));
    h->threads[h->thread_count++] = out;
    return 0;
}

static int one_process(table *b, uint32_t device)
{
    track_set set = b->a->devices[device].set;
    spans shared = {0};
    b->count = b->wait_n = 0;
    for (size_t i = 0; i < set.count; i++)
        VP_TRY(table_add_thread(b, set.tracks[i]));
    count_steps(b);
    const thread *critical = critical_thread(b);
    int rc = critical && critical->wait_count ? shared_work(&shared, b, critical) : 0;
    for (size_t i = 0; rc >= 0 && i < b->count; i++)
        rc = emit_thread(b, device, &b->threads[i], critical, &shared);
    spans_free(&shared);
    for (size_t i = 0; i < b->count; i++)
        spans_free(&b->threads[i].work);
    b->count = 0;
    return rc;
}

/* ---- All ---- */

static int by_thread_work(const void *a, const void *b)
{
    const vp_thread *x = a, *y = b;
    int64_t p = x->work_ps + x->lost_ps, q = y->work_ps + y->lost_ps;
    return p != q ? (p < q) - (p > q) : (x > y) - (x < y);
}

/* The caller of an op is that of its kind with most time. */
static int put_op_callers(table *b)
{
    analysis *a = b->a;
    const uint32_t *group_of = grouping_groups(a->g);
    VP_CLEANUP(vp_free_ptr)
    uint32_t *op_of = vp_realloc_array(NULL, (size_t)grouping_count(a->g) + 1, sizeof *op_of);
    VP_CLEANUP(vp_free_ptr) int64_t *most = vp_calloc(a->h->op_count + 1, sizeof *most);
    VP_NEED(op_of && most);
    for (uint32_t d = 0; d < a->device_count; d++) {
        const kind_list *l = &a->devices[d].times;
        ops_by_group_in(op_of, a, d);
        for (uint32_t i = 0; i < l->n; i++) {
            uint32_t op = op_of[group_of[l->kind[i]]], caller = b->callers[l->kind[i]];
            if (caller == UINT32_MAX || l->self_ps[i] <= most[op])
                continue;
            most[op] = l->self_ps[i];
            VP_TRY(user_frame_text(&a->h->ops[op].caller, a->h, a->t, caller));
        }
    }
    return 0;
}

static int threads_run(table *b)
{
    const analysis *a = b->a;
    host_result *h = a->h;
    size_t kinds = (size_t)a->t->kind_count + 1;
    b->waits = vp_calloc(kinds, sizeof *b->waits);
    b->ps = vp_calloc(kinds, sizeof *b->ps);
    b->touched = vp_calloc(kinds, sizeof *b->touched);
    VP_NEED(b->waits && b->ps && b->touched);
    for (uint32_t i = 0; i < a->t->kind_count; i++) {
        const trace_kind *k = &a->t->kinds[i];
        wait_kind w = wait_kind_of(trace_str(a->t, k->name), trace_str(a->t, k->category));
        b->waits[i] = (uint8_t)(w || !(host_kind_flags(a->kinds, i) & HK_BLOCKING) ? w : WAIT_ANY);
    }
    VP_TRY(grown_new(&b->grown, a, b->waits));
    VP_TRY(zone_callers_new(&b->callers, a));
    for (uint32_t d = 0; d < a->device_count; d++)
        VP_TRY(one_process(b, d));
    if (h->thread_count)
        qsort(h->threads, h->thread_count, sizeof *h->threads, by_thread_work);
    h->thread_count = h->thread_count < THREADS_MAX ? h->thread_count : THREADS_MAX;
    VP_TRY(put_op_callers(b));
    return grown_finish(b->grown, b->callers);
}

int threads_collect(analysis *a)
{
    table b = {.a = a};
    if (a->h->has_devices)
        return 0;
    int rc = threads_run(&b);
    grown_free(b.grown);
    for (size_t i = 0; i < b.count; i++)
        spans_free(&b.threads[i].work);
    vp_free(b.threads);
    vp_free(b.wait);
    vp_free(b.waits);
    vp_free(b.callers);
    vp_free(b.ps);
    vp_free(b.touched);
    return rc;
}
