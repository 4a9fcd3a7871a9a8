#include "trace/analyze/host/first_run.h"

#include "trace/base/err.h"
#include "trace/base/mem.h"

/* A module, by name, while its events are looked at. */
typedef struct module {
    int64_t total_ps;
    int64_t start, end, run; /* of its first run */
    uint32_t steps;          /* how many steps have a start of it; counted up to 2 */
    uint32_t last_step;
} module;

typedef struct modules {
    const analysis *a;
    module *v;
    size_t n, cap;
    vp_map by_name;
    uint32_t *of_kind; /* UINT32_MAX: names no module */
} modules;

static int module_named(uint32_t *out, modules *m, vp_sid name)
{
    *out = vp_map_get(&m->by_name, name);
    if (*out != VP_MAP_NONE)
        return 0;
    VP_TRY(vp_grow(&m->v, &m->cap, m->n + 1, sizeof *m->v, UINT32_MAX - 1));
    VP_TRY(vp_map_set(&m->by_name, name, (uint32_t)m->n));
    *out = (uint32_t)m->n;
    m->v[m->n++] = (module){.start = INT64_MAX, .end = INT64_MAX, .last_step = UINT32_MAX};
    return 0;
}

/* The step that holds a time of the host; UINT32_MAX: none. Steps are sorted by time. */
static uint32_t host_step_at(const host_result *h, int64_t t)
{
    const vp_steps *s = &h->steps;
    size_t low = 0, high = s->count;
    t -= h->origin_ps;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->list[mid].start_ps <= t)
            low = mid + 1;
        else
            high = mid;
    }
    if (!low || t >= s->list[low - 1].start_ps + s->list[low - 1].dur_ps)
        return UINT32_MAX;
    return (uint32_t)low - 1;
}

static void module_see_event(modules *m, const trace_track *k, size_t i, module *x)
{
    int64_t start = trace_aligned_start(k, i), end = trace_aligned_end(k, i);
    x->total_ps += trace_dur(k, i);
    if (start < x->start) {
        x->start = start;
        x->end = end;
        x->run = trace_attr(k, SINK_RUN, i);
    }
    if (x->steps >= 2)
        return;
    uint32_t step = host_step_at(m->a->h, start);
    x->steps += step != UINT32_MAX && step != x->last_step;
    x->last_step = step != UINT32_MAX ? step : x->last_step;
}

/* The first run of a module ends with the last of its ops. */
static void extend_first_run(const trace_track *k, size_t i, module *x)
{
    int64_t end = trace_aligned_end(k, i);
    if (x->run != SINK_NO_VALUE && trace_attr(k, SINK_RUN, i) == x->run && end > x->end)
        x->end = end;
}

static int from_module_tracks(modules *m)
{
    const trace *t = m->a->t;
    for (uint32_t i = 0; i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        for (size_t e = 0; k->role == SINK_ROLE_MODULES && e < k->count; e++) {
            uint32_t at;
            VP_TRY(module_named(&at, m, t->kinds[trace_kind_of(k, e)].name));
            module_see_event(m, k, e, &m->v[at]);
        }
    }
    return 0;
}

static void over_ops(modules *m, bool extending)
{
    for (size_t d = 0; d < m->a->device_count; d++) {
        track_set set = m->a->devices[d].set;
        for (size_t i = 0; i < set.count; i++) {
            const trace_track *k = &set.t->tracks[set.tracks[i]];
            for (size_t e = 0; e < k->count; e++) {
                uint32_t at = m->of_kind[trace_kind_of(k, e)];
                if (at == UINT32_MAX)
                    continue;
                if (extending)
                    extend_first_run(k, e, &m->v[at]);
                else
                    module_see_event(m, k, e, &m->v[at]);
            }
        }
    }
}

static int from_ops(modules *m)
{
    const trace *t = m->a->t;
    m->of_kind = vp_realloc_array(NULL, (size_t)t->kind_count + 1, sizeof *m->of_kind);
    VP_NEED(m->of_kind);
    for (uint32_t k = 0; k < t->kind_count; k++) {
        m->of_kind[k] = UINT32_MAX;
        if (t->kinds[k].module)
            VP_TRY(module_named(&m->of_kind[k], m, t->kinds[k].module));
    }
    over_ops(m, false);
    over_ops(m, true);
    return 0;
}

static int64_t limit_time(int64_t t, int64_t limit)
{
    return t < limit ? t : limit;
}

static first_run earliest_first_run(const modules *m, int64_t first_step_end)
{
    size_t longest = 0;
    first_run r = {INT64_MAX, INT64_MAX};
    for (size_t i = 1; i < m->n; i++)
        if (m->v[i].total_ps > m->v[longest].total_ps)
            longest = i;
    for (size_t i = 0; i < m->n; i++)
        if (i == longest || m->v[i].steps >= 2) {
            r.prepared = limit_time(m->v[i].start, r.prepared);
            r.over = limit_time(m->v[i].end, r.over);
        }
    int64_t inside = limit_time(m->v[longest].start, first_step_end);
    r.prepared = inside > r.prepared ? inside : r.prepared;
    return r;
}

int first_run_find(first_run *out, const analysis *a)
{
    const vp_steps *s = &a->h->steps;
    modules m = {.a = a};
    vp_map_init(&m.by_name);
    int rc = from_module_tracks(&m);
    if (rc >= 0 && !m.n && a->h->has_devices)
        rc = from_ops(&m);
    if (rc >= 0) {
        int64_t end =
            s->count ? s->list[0].start_ps + s->list[0].dur_ps + a->h->origin_ps : INT64_MAX;
        *out = m.n ? earliest_first_run(&m, s->count ? end : INT64_MIN) : (first_run){end, end};
    }
    vp_free(m.v);
    vp_free(m.of_kind);
    vp_map_free(&m.by_name);
    return rc;
}
