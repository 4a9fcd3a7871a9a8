/* Flows (s, t, f) with slices. The importer binds a start or a step to the enclosing slice on its
 * thread, and drops those without one; it refuses a second start of one id. Some writers record a
 * wrong thread: the call that launches a kernel starts together with its flow, on any thread
 * (docs/reference/perfetto.md#flows). */
#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/export/json/json_plan.h"

static int by_flow_key(const void *a, const void *b)
{
    const jp_flow *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static int by_flow_thread(const void *a, const void *b)
{
    const jp_flow *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

/* True if every id is valid and starts once, first: then ids need no changes and flows no sorting.
 * 1, 0 or VP_ENOMEM. */
static int starts_once(const json_plan *p)
{
    VP_CLEANUP(vp_map_free) vp_map start; /* key to flow */
    vp_map_init(&start);
    for (uint32_t i = 0; i < p->flow_count; i++) {
        if (p->flows[i].odd)
            return 0;
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

/* A start with a used id gets a new id, and so do the events up to the next start. Invalid ids are
 * replaced too. */
static int part_ids(json_plan *p)
{
    int64_t id = 0;
    int once = starts_once(p);
    VP_TRY(once);
    if (once)
        return 0;
    qsort(p->flows, p->flow_count, sizeof *p->flows, by_flow_key);
    for (size_t i = 0; i < p->flow_count; i++) {
        const jp_flow *f = &p->flows[i];
        bool used = i && f->key == p->flows[i - 1].key;
        if (!used)
            id = f->odd ? jp_own_id(f->event) : 0;
        else if (f->phase == 's')
            id = jp_own_id(f->event);
        if (id)
            VP_TRY(jp_change_put(p, f->event, f->on_slice ? JP_BIND : JP_ID, id));
    }
    return 0;
}

/* The ids that have a start or a step. */
static int find_starts(vp_map *starts, const json_plan *p)
{
    for (uint32_t i = 0; i < p->flow_count; i++)
        if (p->flows[i].phase != 'f')
            VP_TRY(vp_map_set(starts, p->flows[i].key, i));
    return 0;
}

/* Drops an end without a start: the importer would draw its arrow from the first slice of all. */
static int drop_lone_ends(json_plan *p)
{
    VP_CLEANUP(vp_map_free) vp_map starts;
    vp_map_init(&starts);
    VP_TRY(find_starts(&starts, p));
    size_t kept = 0;
    for (size_t i = 0; i < p->flow_count; i++) {
        jp_flow f = p->flows[i];
        if (f.phase == 'f' && !f.on_slice && vp_map_get(&starts, f.key) == VP_MAP_NONE) {
            p->unbound++;
            VP_TRY(jp_change_put(p, f.event, JP_DROP, 0));
        } else {
            p->flows[kept++] = f;
        }
    }
    p->flow_count = kept;
    return 0;
}

/* State of a thread's tracks up to a time. */
typedef struct tracks {
    const jp_thread *thread;
    size_t next; /* span */
    jp_lanes lanes;
    struct {
        bool any;
        bool pair;   /* the last slice is a begin and an end */
        bool behind; /* it is that, or has no length: where a flow of its moment stands before it
                        in the file, the importer sees the flow first */
        uint32_t last_event;
        int64_t last_start, max_end;
    } lane[EX_LANES_MAX];
} tracks;

static void tracks_advance(tracks *k, int64_t ns)
{
    const ex_spans *s = &k->thread->spans;
    for (; k->next < s->track.count && trace_start(&s->track, k->next) <= ns; k->next++) {
        uint32_t lane = jp_lane_of(&k->lanes, k->thread, k->next);
        int64_t end = ex_spans_end(s, k->next);
        if (lane == EX_LANE_ASYNC)
            continue;
        if (!k->lane[lane].any || end > k->lane[lane].max_end)
            k->lane[lane].max_end = end;
        k->lane[lane].any = true;
        k->lane[lane].pair = trace_dur(&s->track, k->next) < 0;
        k->lane[lane].behind = trace_dur(&s->track, k->next) <= 0;
        k->lane[lane].last_event = trace_kind_of(&s->track, k->next);
        k->lane[lane].last_start = trace_start(&s->track, k->next);
    }
}

/* The track with a slice that starts at that time, else one with an enclosing slice. JP_NONE: no
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

static bool is_before_its_slice(const tracks *k, uint32_t lane, const jp_flow *f)
{
    return k->lane[lane].behind && k->lane[lane].last_start == f->ns &&
           k->lane[lane].last_event > f->event;
}

static int64_t flow_place_of_lane(const json_plan *p, const jp_thread *t, uint32_t lane)
{
    return (int64_t)(t - p->threads) << 32 | jp_lane_tid(p, t, lane);
}

/* A flow without a slice on its own thread, and the indices of slices that start with it, -1: none.
 * Sorted by time and process: `any` is set in the first of a time, `own` in the first of its
 * process at that time. */
typedef struct lost_flow {
    int64_t ns, any, own;
    uint32_t process, event;
    /* No slice encloses it; the importer uses the last complete slice before it. */
    bool stale;
} lost_flow;

/* Finds the slices of a thread's flows, which are sorted by time; those without any are lost. */
static int bind_thread(json_plan *p, const jp_flow *f, size_t n, lost_flow *lost,
                       size_t *lost_count)
{
    tracks k = {.thread = &p->threads[f->thread]};
    k.lanes = jp_lanes_of(p, k.thread);
    for (size_t i = 0; i < n; i++) {
        if (f[i].on_slice)
            continue;
        tracks_advance(&k, f[i].ns);
        uint32_t lane = lane_at(&k, f[i].ns);
        if (lane == JP_NONE && !f[i].next)
            lost[(*lost_count)++] = (lost_flow){.ns = f[i].ns,
                                                .any = -1,
                                                .own = -1,
                                                .process = k.thread->process,
                                                .event = f[i].event,
                                                .stale = k.lane[0].any && !k.lane[0].pair};
        else if (lane != JP_NONE && lane)
            VP_TRY(jp_change_put(p, f[i].event, JP_THREAD, flow_place_of_lane(p, k.thread, lane)));
        if (lane != JP_NONE && is_before_its_slice(&k, lane, &f[i]))
            VP_TRY(jp_change_put(p, f[i].event, JP_LATE, 0));
    }
    return 0;
}

static int by_moment(const void *a, const void *b)
{
    const lost_flow *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->process < y->process ? -1 : x->process > y->process;
}

/* The first at or after that time and process. */
static size_t first_at(const lost_flow *lost, size_t n, int64_t ns, uint32_t process)
{
    const lost_flow key = {.ns = ns, .process = process};
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (by_moment(&lost[mid], &key) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The slices of thread t that start with a lost flow; those of the flow's own process are
 * preferred. */
static void offer_flow_starts(const json_plan *p, const jp_thread *t, lost_flow *lost, size_t n)
{
    jp_lanes lanes = jp_lanes_of(p, t);
    for (size_t i = 0; i < t->spans.track.count; i++) {
        int64_t ns = trace_start(&t->spans.track, i);
        uint32_t lane = jp_lane_of(&lanes, t, i);
        if (lane == EX_LANE_ASYNC)
            continue;
        size_t any = first_at(lost, n, ns, 0), own = first_at(lost, n, ns, t->process);
        if (any < n && lost[any].ns == ns && lost[any].any < 0)
            lost[any].any = flow_place_of_lane(p, t, lane);
        if (own < n && lost[own].ns == ns && lost[own].process == t->process)
            lost[own].own = flow_place_of_lane(p, t, lane);
    }
}

static int find_lost_flows(json_plan *p, lost_flow *lost, size_t n)
{
    int64_t any = -1, own = -1;
    qsort(lost, n, sizeof *lost, by_moment);
    for (size_t i = 0; i < p->thread_count; i++)
        offer_flow_starts(p, &p->threads[i], lost, n);
    for (size_t i = 0; i < n; i++) {
        bool moment = !i || lost[i].ns != lost[i - 1].ns;
        any = moment ? lost[i].any : any;
        own = moment || lost[i].process != lost[i - 1].process ? lost[i].own : own;
        int64_t to = own >= 0 ? own : any;
        if (to < 0 && lost[i].stale)
            continue;
        p->unbound += to < 0;
        VP_TRY(jp_change_put(p, lost[i].event, to >= 0 ? JP_THREAD : JP_DROP, to));
    }
    return 0;
}

int jp_bind_flows(json_plan *p)
{
    size_t n = p->flow_count, lost_count = 0;
    p->has_flows = n != 0;
    if (!n)
        return 0;
    VP_CLEANUP(vp_free_ptr) lost_flow *lost = vp_calloc(n, sizeof *lost);
    VP_NEED(lost);
    VP_TRY(drop_lone_ends(p));
    VP_TRY(part_ids(p));
    n = p->flow_count;
    qsort(p->flows, n, sizeof *p->flows, by_flow_thread);
    for (size_t i = 0, of; i < n; i += of) {
        for (of = 1; i + of < n && p->flows[i + of].thread == p->flows[i].thread;)
            of++;
        VP_TRY(bind_thread(p, p->flows + i, of, lost, &lost_count));
    }
    vp_free(p->flows);
    p->flows = NULL;
    p->flow_count = p->flow_cap = 0;
    return lost_count ? find_lost_flows(p, lost, lost_count) : 0;
}
