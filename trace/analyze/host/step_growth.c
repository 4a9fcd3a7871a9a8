/* The zone that made a step longer. The usual time of a zone in a step is the median over all
 * steps, where a step without it counts as 0; the growth is its excess over that. Zones on the step
 * thread come first. If the one with the largest growth there only waits, a zone of another thread
 * that grew by at least half as much is the cause. */
#include <stdlib.h>

#include "trace/analyze/host/threads.h"
#include "trace/analyze/host/user_kinds.h"
#include "trace/analyze/result/order_statistics.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

/* Self time of a zone in a step. key: 2 · kind, + 1 if it is on another thread than the step. */
typedef struct part {
    uint32_t step, key;
    int64_t ps;
} part;

struct grown {
    const analysis *a;
    const uint8_t *waits; /* by kind: its zones wait */
    uint32_t process;     /* of the step thread */
    int64_t *ps;          /* by key: time in the current step, on the current track */
    uint32_t *touched;
    size_t touched_count;
    uint32_t track, step; /* at hand */
    bool off;
    part *v;
    size_t n, cap;
};

static size_t steps_of(const grown *g)
{
    return g->a->h->steps.count;
}

int grown_new(grown **out, const analysis *a, const uint8_t *waits)
{
    size_t keys = 2 * (size_t)a->t->kind_count + 2;
    grown *g = vp_calloc(1, sizeof *g);
    VP_NEED(g);
    *g = (grown){.a = a, .waits = waits, .process = SINK_NONE};
    g->ps = vp_calloc(keys, sizeof *g->ps);
    g->touched = vp_calloc(keys, sizeof *g->touched);
    if (!g->ps || !g->touched) {
        grown_free(g);
        return vp_no_memory();
    }
    if (a->marked_track && steps_of(g))
        g->process = a->t->tracks[a->marked_track[0]].process;
    *out = g;
    return 0;
}

void grown_free(grown *g)
{
    if (!g)
        return;
    vp_free(g->ps);
    vp_free(g->touched);
    vp_free(g->v);
    vp_free(g);
}

static int grown_flush_step(grown *g)
{
    for (size_t i = 0; i < g->touched_count; i++) {
        uint32_t key = g->touched[i];
        VP_TRY(vp_grow(&g->v, &g->cap, g->n + 1, sizeof *g->v, VP_EVENTS_MAX));
        g->v[g->n++] = (part){g->step, key, g->ps[key]};
        g->ps[key] = 0;
    }
    g->touched_count = 0;
    return 0;
}

int grown_track(grown *g, uint32_t track)
{
    VP_TRY(grown_flush_step(g));
    g->track = track;
    g->step = 0;
    g->off = g->a->t->tracks[track].process != g->process;
    return 0;
}

int grown_add(grown *g, uint32_t kind, int64_t start, int64_t end)
{
    const analysis *a = g->a;
    uint32_t at = g->step;
    while (!g->off && at < steps_of(g) && a->marked_end_ps[at] <= start)
        at++;
    if (at != g->step)
        VP_TRY(grown_flush_step(g));
    g->step = at;
    g->off = g->off || at >= steps_of(g);
    if (g->off || a->marked_start_ps[at] > start)
        return 0;
    bool other = a->marked_track[at] != g->track;
    if (other && g->waits[kind]) /* an idle worker that waits longer is not a cause */
        return 0;
    uint32_t key = 2 * kind + other;
    if (!g->ps[key])
        g->touched[g->touched_count++] = key;
    g->ps[key] += end - start;
    return 0;
}

static int by_part_key(const void *a, const void *b)
{
    const part *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                            : (x->step > y->step) - (x->step < y->step);
}

/* Adds up the time of several threads in one zone in one step. */
static void join_parts(grown *g)
{
    size_t n = 0;
    if (g->n)
        qsort(g->v, g->n, sizeof *g->v, by_part_key);
    for (size_t i = 0; i < g->n; i++)
        if (n && !by_part_key(&g->v[n - 1], &g->v[i]))
            g->v[n - 1].ps += g->v[i].ps;
        else
            g->v[n++] = g->v[i];
    g->n = n;
}

/* By step, the zones that grew most: one on its thread, and one on other threads. */
typedef struct best {
    uint32_t key[2];
    int64_t more[2], usual[2];
} best;

static void best_consider_part(best *b, const part *p, int64_t usual)
{
    unsigned other = p->key & 1;
    int64_t more = p->ps - usual;
    if (more > b->more[other]) {
        b->more[other] = more;
        b->usual[other] = usual;
        b->key[other] = p->key;
    }
}

static int find_best(const grown *g, best *out)
{
    size_t steps = steps_of(g);
    VP_CLEANUP(vp_free_ptr) int64_t *ps = vp_calloc(steps + 1, sizeof *ps);
    VP_NEED(ps);
    for (size_t i = 0, end; i < g->n; i = end) {
        for (end = i; end < g->n && g->v[end].key == g->v[i].key; end++)
            ps[end - i] = g->v[end].ps;
        size_t n = end - i, without = steps - n, median = nearest_rank(steps, 50);
        int64_t usual = median < without ? 0 : select_kth(ps, n, median - without);
        for (size_t k = i; k < end; k++)
            best_consider_part(&out[g->v[k].step], &g->v[k], usual);
    }
    return 0;
}

/* Locates the zone: its longest call in the step. */
static void locate_grown_zones(const grown *g, const uint32_t *key, uint32_t *track,
                               int64_t *event_start)
{
    const analysis *a = g->a;
    vp_step *list = a->h->steps.list;
    for (uint32_t i = 0; i < a->t->track_count; i++) {
        const trace_track *k = &a->t->tracks[i];
        size_t step = 0;
        for (size_t e = 0; k->process == g->process && k->role == SINK_ROLE_PLAIN && e < k->count;
             e++) {
            while (step < steps_of(g) && a->marked_end_ps[step] <= trace_start(k, e))
                step++;
            if (step == steps_of(g))
                break;
            bool other = a->marked_track[step] != i;
            if (a->marked_start_ps[step] > trace_start(k, e) ||
                key[step] != 2 * trace_kind_of(k, e) + other ||
                trace_dur(k, e) <= list[step].grew.dur_ps)
                continue;
            list[step].grew.dur_ps = trace_dur(k, e);
            event_start[step] = trace_start(k, e);
            track[step] = i;
        }
    }
}

static uint32_t device_of_process(const analysis *a, uint32_t process)
{
    for (uint32_t d = 0; d < a->device_count; d++)
        if (a->devices[d].process == process)
            return d;
    return VP_NO_DEVICE;
}

static int put_grown_names(const grown *g, const uint32_t *key, const uint32_t *track,
                           const int64_t *event_start, const uint32_t *callers)
{
    host_result *h = g->a->h;
    for (size_t i = 0; i < steps_of(g); i++) {
        vp_grown *out = &h->steps.list[i].grew;
        if (out->more_ps <= 0 || track[i] == SINK_NONE)
            continue;
        out->device = device_of_process(g->a, g->process);
        out->start_ps = event_start[i] - h->origin_ps;
        VP_TRY(host_text(&out->name, h, trace_str(g->a->t, g->a->t->kinds[key[i] / 2].name)));
        VP_TRY(thread_text(&out->thread, h, g->a->t, track[i]));
        VP_TRY(user_frame_text(&out->caller, h, g->a->t, callers[key[i] / 2]));
    }
    return 0;
}

int grown_finish(grown *g, const uint32_t *callers)
{
    size_t steps = steps_of(g);
    VP_TRY(grown_flush_step(g));
    VP_CLEANUP(vp_free_ptr) best *found = vp_calloc(steps + 1, sizeof *found);
    VP_CLEANUP(vp_free_ptr) uint32_t *key = vp_calloc(steps + 1, sizeof *key);
    VP_CLEANUP(vp_free_ptr) uint32_t *track = vp_calloc(steps + 1, sizeof *track);
    VP_CLEANUP(vp_free_ptr) int64_t *start = vp_calloc(steps + 1, sizeof *start);
    VP_NEED(found && key && track && start);
    if (g->process == SINK_NONE)
        return 0;
    join_parts(g);
    VP_TRY(find_best(g, found));
    for (size_t i = 0; i < steps; i++) {
        const best *b = &found[i];
        bool other = (g->waits[b->key[0] / 2] || b->more[0] <= 0) && b->more[1] > 0 &&
                     b->more[1] >= b->more[0] / 2;
        g->a->h->steps.list[i].grew = (vp_grown){
            .device = VP_NO_DEVICE, .more_ps = b->more[other], .usual_ps = b->usual[other]};
        key[i] = b->key[other];
        track[i] = SINK_NONE;
    }
    locate_grown_zones(g, key, track, start);
    return put_grown_names(g, key, track, start, callers);
}
