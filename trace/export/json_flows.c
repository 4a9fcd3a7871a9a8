/* Flows (s, t, f) that their slices can have. The importer binds a start or a step to the slice
 * around it on its thread, and drops what has none; it refuses a second start of one id. Some
 * writers name a wrong thread: the call that launches a kernel starts with its flow, wherever it
 * lies (perfetto.md 6). */
#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/export/json_plan.h"

static int by_key(const void *a, const void *b)
{
    const jp_flow *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static int by_thread(const void *a, const void *b)
{
    const jp_flow *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

/* Whether every id starts once and before all else: then none has to be parted, and nothing to be
 * sorted. 1, 0 or VP_ENOMEM. */
static int starts_once(const json_plan *p)
{
    VP_CLEANUP(vp_map_free) vp_map start; /* key to flow */
    vp_map_init(&start);
    for (uint32_t i = 0; i < p->flow_count; i++) {
        if (p->flows[i].phase != 's')
            continue;
        if (vp_map_get(&start, p->flows[i].key) != VP_MAP_NONE)
            return 0;
        VP_TRY(vp_map_set(&start, p->flows[i].key, i));
    }
    for (uint32_t i = 0; i < p->flow_count; i++) {
        uint32_t first = vp_map_get(&start, p->flows[i].key);
        if (first != VP_MAP_NONE && p->flows[first].ns >= p->flows[i].ns && first != i)
            return 0;
    }
    return 1;
}

/* A start whose id was used before gets an id of its own, and so does what follows up to the next
 * start. */
static int part_ids(json_plan *p)
{
    int64_t id = 0;
    int once = starts_once(p);
    VP_TRY(once);
    if (once)
        return 0;
    qsort(p->flows, p->flow_count, sizeof *p->flows, by_key);
    for (size_t i = 0; i < p->flow_count; i++) {
        const jp_flow *f = &p->flows[i];
        bool used = i && f->key == p->flows[i - 1].key;
        if (!used)
            id = 0;
        else if (f->phase == 's')
            id = jp_own_id(f->event);
        if (id)
            VP_TRY(jp_change_put(p, f->event, f->on_slice ? JP_BIND : JP_ID, id));
    }
    return 0;
}

/* What is known of a thread's tracks up to a moment. */
typedef struct tracks {
    const jp_thread *thread;
    size_t next; /* span */
    jp_lanes lanes;
    struct {
        bool any;
        bool pair; /* the last slice is a begin and an end */
        int64_t last_start, max_end;
    } lane[EX_LANES_MAX];
} tracks;

static void advance(tracks *k, int64_t ns)
{
    const ex_spans *s = &k->thread->spans;
    for (; k->next < s->track.count && s->track.start_ps[k->next] <= ns; k->next++) {
        uint32_t lane = jp_lane_of(&k->lanes, k->thread, k->next);
        int64_t end = ex_spans_end(s, k->next);
        if (lane == EX_LANE_ASYNC)
            continue;
        if (!k->lane[lane].any || end > k->lane[lane].max_end)
            k->lane[lane].max_end = end;
        k->lane[lane].any = true;
        k->lane[lane].pair = s->track.dur_ps[k->next] < 0;
        k->lane[lane].last_start = s->track.start_ps[k->next];
    }
}

/* The track with a slice that starts at that moment, else one with a slice around it. JP_NONE: no
 * slice. */
static uint32_t lane_at(const tracks *k, int64_t ns)
{
    uint32_t around = JP_NONE;
    for (uint32_t i = 0; i < k->thread->lanes; i++) {
        if (!k->lane[i].any)
            continue;
        if (k->lane[i].last_start == ns)
            return i;
        if (around == JP_NONE && k->lane[i].max_end >= ns)
            around = i;
    }
    return around;
}

static int64_t place(const json_plan *p, const jp_thread *t, uint32_t lane)
{
    return (int64_t)(t - p->threads) << 32 | jp_lane_tid(p, t, lane);
}

/* Looks for the slices of a thread's flows, which come by time; those without any are lost. */
static int bind_thread(json_plan *p, jp_flow *f, size_t n, jp_flow *lost, size_t *lost_count)
{
    tracks k = {.thread = &p->threads[f->thread]};
    k.lanes = jp_lanes_of(p, k.thread);
    for (size_t i = 0; i < n; i++) {
        if (f[i].on_slice)
            continue;
        advance(&k, f[i].ns);
        uint32_t lane = lane_at(&k, f[i].ns);
        f[i].stale = k.lane[0].any && !k.lane[0].pair;
        if (lane == JP_NONE && !f[i].next)
            lost[(*lost_count)++] = f[i];
        else if (lane != JP_NONE && lane)
            VP_TRY(jp_change_put(p, f[i].event, JP_THREAD, place(p, k.thread, lane)));
    }
    return 0;
}

static int by_moment(const void *a, const void *b)
{
    const jp_flow *x = a, *y = b;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static size_t first_at(const jp_flow *lost, size_t n, int64_t ns)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (lost[mid].ns < ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The slices of thread t that start with a lost flow; the flow's own process is preferred. */
static void offer(const json_plan *p, const jp_thread *t, const jp_flow *lost, size_t n,
                  int64_t *to)
{
    jp_lanes lanes = jp_lanes_of(p, t);
    for (size_t i = 0; i < t->spans.track.count; i++) {
        int64_t ns = t->spans.track.start_ps[i];
        uint32_t lane = jp_lane_of(&lanes, t, i);
        for (size_t k = first_at(lost, n, ns); k < n && lost[k].ns == ns; k++) {
            bool own = t->process == p->threads[lost[k].thread].process;
            if (lane != EX_LANE_ASYNC && (to[k] < 0 || own))
                to[k] = place(p, t, lane);
        }
    }
}

static int find_lost(json_plan *p, jp_flow *lost, size_t n)
{
    VP_CLEANUP(vp_free_ptr) int64_t *to = vp_calloc(n, sizeof *to);
    VP_NEED(to);
    for (size_t i = 0; i < n; i++)
        to[i] = -1;
    qsort(lost, n, sizeof *lost, by_moment);
    for (size_t i = 0; i < p->thread_count; i++)
        offer(p, &p->threads[i], lost, n, to);
    for (size_t i = 0; i < n; i++) {
        bool bound = to[i] >= 0;
        if (!bound && lost[i].stale)
            continue;
        p->unbound += !bound;
        VP_TRY(jp_change_put(p, lost[i].event, bound ? JP_THREAD : JP_DROP, to[i]));
    }
    return 0;
}

int jp_bind_flows(json_plan *p)
{
    size_t n = p->flow_count, lost_count = 0;
    if (!n)
        return 0;
    VP_CLEANUP(vp_free_ptr) jp_flow *lost = vp_calloc(n, sizeof *lost);
    VP_NEED(lost);
    VP_TRY(part_ids(p));
    qsort(p->flows, n, sizeof *p->flows, by_thread);
    for (size_t i = 0, of; i < n; i += of) {
        for (of = 1; i + of < n && p->flows[i + of].thread == p->flows[i].thread;)
            of++;
        VP_TRY(bind_thread(p, p->flows + i, of, lost, &lost_count));
    }
    return lost_count ? find_lost(p, lost, lost_count) : 0;
}
