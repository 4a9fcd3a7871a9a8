#include "trace/links/run_launches.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/order.h"

typedef struct launch_event {
    int64_t start_ps, end_ps;
    uint32_t track, event;
    bool ran_inline;
} launch_event;

typedef struct launch_events {
    launch_event *v;
    size_t n, cap;
} launch_events;

typedef enum run_event { RUN_NONE, RUN_LAUNCH_ONE, RUN_LAUNCH_ALL, RUN_WAIT } run_event;

static uint64_t run_key(uint32_t process, int64_t id)
{
    return vp_mix((uint64_t)id) ^ process;
}

/* PjRt launches a module on one device, or on all devices of a program at once. Names start with
 * the class: TfrtCpuExecutable, CommonPjRtLoadedExecutable, … */
static run_event run_event_of(vp_str name)
{
    if (vp_str_ends(name, VP_STR("Executable::ExecuteHelperOnSingleDevice")) ||
        vp_str_ends(name, VP_STR("Executable::ExecuteHelper")))
        return RUN_LAUNCH_ONE;
    if (vp_str_ends(name, VP_STR("::Execute (wait for completion)")))
        return RUN_WAIT;
    return !vp_str_starts(name, VP_STR("[")) &&
                   vp_str_find(name, VP_STR("Executable::Execute (")) < name.n
               ? RUN_LAUNCH_ALL
               : RUN_NONE;
}

static bool is_cpu_device(const trace *t, const trace_track *k)
{
    return k->role == SINK_ROLE_OPS && k->attr[SINK_RUN] &&
           t->processes[k->process].kind == SINK_PROCESS_CPU;
}

static int add_run(run_launches *r, const module_run *x)
{
    uint32_t at = (uint32_t)r->count, first = vp_map_get(&r->by_id, (uint64_t)x->id);
    VP_TRY(vp_grow(&r->run, &r->cap, r->count + 1, sizeof *r->run, UINT32_MAX - 1));
    VP_TRY(vp_map_set(&r->by_device, run_key(x->process, x->id), at));
    r->run[at] = *x;
    r->count++;
    if (first == VP_MAP_NONE)
        return vp_map_set(&r->by_id, (uint64_t)x->id, at);
    r->run[at].same_id = r->run[first].same_id;
    r->run[first].same_id = at;
    return 0;
}

static int add_op_to_run(run_launches *r, const trace *t, uint32_t track, size_t e)
{
    const trace_track *k = &t->tracks[track];
    int64_t id = trace_attr(k, SINK_RUN, e), start = trace_start(k, e), end = trace_end(k, e);
    if (id == SINK_NO_VALUE)
        return 0;
    const module_run *last = r->count ? &r->run[r->count - 1] : NULL;
    uint32_t at = last && last->id == id && last->process == k->process
                      ? (uint32_t)r->count - 1
                      : vp_map_get(&r->by_device, run_key(k->process, id));
    if (at == VP_MAP_NONE)
        return add_run(r, &(module_run){.id = id,
                                        .start_ps = start,
                                        .end_ps = end,
                                        .process = k->process,
                                        .track = track,
                                        .event = (uint32_t)e,
                                        .same_id = VP_MAP_NONE,
                                        .waited_ps = INT64_MIN,
                                        .launch_track = TRACE_NO_TRACK});
    r->run[at].end_ps = end > r->run[at].end_ps ? end : r->run[at].end_ps;
    return 0;
}

static int find_runs(run_launches *r, const trace *t)
{
    for (uint32_t i = 0; i < t->track_count; i++)
        for (size_t e = 0; is_cpu_device(t, &t->tracks[i]) && e < t->tracks[i].count; e++)
            VP_TRY(add_op_to_run(r, t, i, e));
    return 0;
}

/* Links the runs of an id, one on each device, to the launch that states it. The first launch of an
 * id counts. */
static void link_runs_of_id(run_launches *r, int64_t id, uint32_t track, uint32_t event,
                            bool is_inline)
{
    uint32_t at = vp_map_get(&r->by_id, (uint64_t)id);
    if (at == VP_MAP_NONE || r->run[at].launch_track != TRACE_NO_TRACK)
        return;
    for (; at != VP_MAP_NONE; at = r->run[at].same_id) {
        r->run[at].launch_track = track;
        r->run[at].launch_event = event;
        r->run[at].is_inline = is_inline;
    }
}

static void note_wait(run_launches *r, int64_t id, int64_t end_ps)
{
    uint32_t first = vp_map_get(&r->by_id, (uint64_t)id);
    if (first != VP_MAP_NONE && end_ps > r->run[first].waited_ps)
        r->run[first].waited_ps = end_ps;
}

static void end_runs_with_waits(run_launches *r)
{
    for (size_t i = 0; i < r->count; i++) {
        module_run *x = &r->run[i];
        int64_t waited = r->run[vp_map_get(&r->by_id, (uint64_t)x->id)].waited_ps;
        if (waited > x->start_ps && waited < x->end_ps)
            x->end_ps = waited;
    }
}

/* Collects the launches of a thread. Ops inside a launch are of a run that its thread ran. */
static int read_thread(run_launches *r, launch_events *l, const trace *t, uint32_t track,
                       const uint8_t *kind_of)
{
    const trace_track *k = &t->tracks[track];
    launch_event *open = NULL;
    for (size_t e = 0; e < k->count; e++) {
        run_event kind = kind_of[trace_kind_of(k, e)];
        int64_t run = trace_attr(k, SINK_RUN, e);
        if (kind == RUN_LAUNCH_ONE) {
            VP_TRY(vp_grow(&l->v, &l->cap, l->n + 1, sizeof *l->v, VP_EVENTS_MAX));
            open = &l->v[l->n++];
            *open = (launch_event){trace_start(k, e), trace_end(k, e), track, (uint32_t)e, false};
        } else if (run == SINK_NO_VALUE) {
            continue;
        } else if (kind == RUN_LAUNCH_ALL) {
            link_runs_of_id(r, run, track, (uint32_t)e, false);
        } else if (kind == RUN_WAIT) {
            note_wait(r, run, trace_end(k, e));
        } else if (open && trace_start(k, e) < open->end_ps) {
            open->ran_inline = true;
            link_runs_of_id(r, run, track, open->event, true);
        }
    }
    return 0;
}

static bool is_launch_thread(const trace *t, const trace_track *k)
{
    return k->role == SINK_ROLE_PLAIN && t->processes[k->process].kind == SINK_PROCESS_HOST;
}

static int read_threads(run_launches *r, launch_events *l, const trace *t)
{
    VP_CLEANUP(vp_free_ptr) uint8_t *kind_of = vp_calloc((size_t)t->kind_count + 1, 1);
    bool any = false;
    VP_NEED(kind_of);
    for (uint32_t i = 0; i < t->kind_count; i++) {
        kind_of[i] = (uint8_t)run_event_of(trace_str(t, t->kinds[i].name));
        any = any || kind_of[i] != RUN_NONE;
    }
    for (uint32_t i = 0; any && i < t->track_count; i++)
        if (is_launch_thread(t, &t->tracks[i]))
            VP_TRY(read_thread(r, l, t, i, kind_of));
    return 0;
}

static int by_launch_start(const void *a, const void *b)
{
    const launch_event *x = a, *y = b;
    return x->start_ps != y->start_ps ? vp_order(x->start_ps, y->start_ps)
                                      : vp_order(x->track, y->track);
}

/* The device whose runs have no launch yet, if it is the only one. *count: all such runs. */
static bool find_unlinked_device(const run_launches *r, uint32_t *process, size_t *count)
{
    bool single = true;
    *count = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (r->run[i].launch_track != TRACE_NO_TRACK)
            continue;
        single = single && (!*count || r->run[i].process == *process);
        *process = r->run[i].process;
        ++*count;
    }
    return single;
}

/* A device runs what it is given in order. Runs in excess of the launches were launched before the
 * recording began. A run that seems to start before its launch has none: something is missing. */
static void link_by_order(run_launches *r, const launch_events *l)
{
    uint32_t process = 0;
    size_t count, launches = 0, next = 0, skip;
    for (size_t i = 0; i < l->n; i++)
        launches += !l->v[i].ran_inline;
    if (!find_unlinked_device(r, &process, &count)) {
        r->of_several = count;
        return;
    }
    skip = r->before_recording = count > launches ? count - launches : 0;
    for (size_t i = 0; i < r->count; i++) {
        module_run *x = &r->run[i];
        if (x->launch_track != TRACE_NO_TRACK)
            continue;
        if (skip) {
            skip--;
            continue;
        }
        while (next < l->n && l->v[next].ran_inline)
            next++;
        if (next == l->n)
            return;
        const launch_event *by = &l->v[next++];
        if (by->start_ps > x->start_ps) {
            r->early++;
            continue;
        }
        x->launch_track = by->track;
        x->launch_event = by->event;
        x->by_order = true;
    }
}

static int link_runs(run_launches *r, const trace *t)
{
    launch_events l = {0};
    int rc = read_threads(r, &l, t);
    if (rc >= 0 && l.n) {
        vp_put_in_order(l.v, l.n, sizeof *l.v, by_launch_start);
        link_by_order(r, &l);
    }
    vp_free(l.v);
    end_runs_with_waits(r);
    for (size_t i = 0; i < r->count; i++)
        r->unlinked += r->run[i].launch_track == TRACE_NO_TRACK;
    return rc;
}

int run_launches_new(run_launches **out, const trace *t)
{
    run_launches *r = vp_calloc(1, sizeof *r);
    VP_NEED(r);
    vp_map_init(&r->by_device);
    vp_map_init(&r->by_id);
    int rc = find_runs(r, t);
    if (rc >= 0 && r->count)
        rc = link_runs(r, t);
    if (rc < 0) {
        run_launches_free(r);
        return rc;
    }
    *out = r;
    return 0;
}

void run_launches_free(run_launches *r)
{
    if (!r)
        return;
    vp_free(r->run);
    vp_map_free(&r->by_device);
    vp_map_free(&r->by_id);
    vp_free(r);
}

const module_run *run_launches_find(const run_launches *r, const trace_track *ops, size_t event)
{
    int64_t id = r->count ? trace_attr(ops, SINK_RUN, event) : SINK_NO_VALUE;
    uint32_t at =
        id == SINK_NO_VALUE ? VP_MAP_NONE : vp_map_get(&r->by_device, run_key(ops->process, id));
    return at == VP_MAP_NONE ? NULL : &r->run[at];
}
