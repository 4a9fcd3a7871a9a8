/* The step of a time on a thread, derived from events that pass work between threads. */
#include <stdlib.h>

#include "trace/analyze/steps/steps_parts.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* Work is passed between threads a few times (Python → executor → stream). Each round follows one
 * transfer. */
#define ROUNDS_MAX 8

struct step_owner {
    const trace *t;
    const step_marks *marks;
    step_marks *of_track; /* by track: ranges that belong to a step; NULL: only time decides */
    vp_map flows, groups; /* → step */
    size_t last;          /* a hint for step_mark_at, which does not affect results */
};

void step_owner_free(step_owner *o)
{
    if (!o)
        return;
    for (uint32_t i = 0; o->of_track && i < o->t->track_count; i++)
        vp_free(o->of_track[i].v);
    vp_free(o->of_track);
    vp_map_free(&o->flows);
    vp_map_free(&o->groups);
    vp_free(o);
}

/* Records the flows that events of the track produce inside steps. Returns the number of new ones.
 */
static int add_producers(step_owner *o, const trace_track *k, const step_marks *owned,
                         size_t *added)
{
    const trace_column *flows = k->attr[SINK_FLOW_OUT];
    size_t last = 0;
    for (size_t e = trace_column_next(flows, 0); owned->n && e < k->count;
         e = trace_column_next(flows, e + 1)) {
        int64_t flow = trace_column_get(flows, e, SINK_NO_VALUE);
        uint32_t at = step_mark_at(owned, trace_start(k, e), &last);
        if (at == STEP_NONE || vp_map_get(&o->flows, (uint64_t)flow) != VP_MAP_NONE)
            continue;
        VP_TRY(vp_map_set(&o->flows, (uint64_t)flow, owned->v[at].step));
        ++*added;
    }
    return 0;
}

/* An event that consumes a flow of a step belongs to the step, including nested events. */
static int add_consumers(step_owner *o, uint32_t track, step_marks *owned)
{
    const trace_track *k = &o->t->tracks[track];
    const trace_column *flows = k->attr[SINK_FLOW_IN];
    size_t last = 0, before = owned->n;
    for (size_t e = trace_column_next(flows, 0); e < k->count;
         e = trace_column_next(flows, e + 1)) {
        int64_t flow = trace_column_get(flows, e, SINK_NO_VALUE), start = trace_start(k, e);
        uint32_t step = vp_map_get(&o->flows, (uint64_t)flow);
        step_marks known = {owned->v, before, 0};
        if (step == STEP_NONE || trace_dur(k, e) <= 0 ||
            step_mark_at(&known, start, &last) != STEP_NONE)
            continue;
        step_mark mark = {
            .start = start, .end = start + trace_dur(k, e), .track = track, .step = step};
        VP_TRY(step_marks_add(owned, &mark));
    }
    if (owned->n > before)
        step_marks_order(owned);
    return 0;
}

/* The steps of the threads themselves, including those concurrent to the main thread's. */
static int own_marks(step_owner *o, const step_search *s)
{
    o->of_track = vp_calloc((size_t)o->t->track_count + 1, sizeof *o->of_track);
    VP_NEED(o->of_track);
    for (size_t i = 0; i < s->host.n; i++)
        VP_TRY(step_marks_add(&o->of_track[s->host.v[i].track], &s->host.v[i]));
    for (size_t i = 0; i < s->beside.n; i++)
        if (s->beside.v[i].step != STEP_NONE)
            VP_TRY(step_marks_add(&o->of_track[s->beside.v[i].track], &s->beside.v[i]));
    return 0;
}

static int propagate_owners(step_owner *o)
{
    size_t added = 1;
    for (int round = 0; added && round < ROUNDS_MAX; round++) {
        added = 0;
        for (uint32_t i = 0; i < o->t->track_count; i++) {
            const trace_track *k = &o->t->tracks[i];
            if (k->role == SINK_ROLE_PLAIN && k->attr[SINK_FLOW_OUT])
                VP_TRY(add_producers(o, k, &o->of_track[i], &added));
        }
        for (uint32_t i = 0; added && i < o->t->track_count; i++) {
            const trace_track *k = &o->t->tracks[i];
            if (k->role == SINK_ROLE_PLAIN && k->attr[SINK_FLOW_IN])
                VP_TRY(add_consumers(o, i, &o->of_track[i]));
        }
    }
    return 0;
}

static int add_step_groups(step_owner *o, const step_marks *marks)
{
    for (size_t i = 0; i < marks->n; i++)
        if (marks->v[i].group != SINK_NO_VALUE)
            VP_TRY(vp_map_set(&o->groups, (uint64_t)marks->v[i].group, marks->v[i].step));
    return 0;
}

static bool follows_flows(const step_search *s)
{
    return s->source == VP_STEPS_ANNOTATION || s->source == VP_STEPS_NAMED;
}

int step_owner_new(step_owner **out, const analysis *a, const step_search *s)
{
    step_owner *o = vp_calloc(1, sizeof *o);
    VP_NEED(o);
    o->t = a->t;
    o->marks = &s->host;
    vp_map_init(&o->flows);
    vp_map_init(&o->groups);
    int rc = add_step_groups(o, &s->host);
    if (rc >= 0 && (follows_flows(s) || s->beside.n))
        rc = own_marks(o, s);
    if (rc >= 0 && follows_flows(s))
        rc = propagate_owners(o);
    if (rc < 0) {
        step_owner_free(o);
        return rc;
    }
    *out = o;
    return 0;
}

uint32_t step_owner_at(step_owner *o, uint32_t track, int64_t at)
{
    size_t first = 0;
    uint32_t i;
    if (o->of_track && o->of_track[track].n) {
        i = step_mark_at(&o->of_track[track], at, &first);
        if (i != STEP_NONE)
            return o->of_track[track].v[i].step;
    }
    i = step_mark_at(o->marks, at, &o->last);
    return i == STEP_NONE ? STEP_NONE : o->marks->v[i].step;
}

uint32_t step_owner_of(const step_owner *o, const trace_track *k, size_t event)
{
    int64_t group = trace_attr(k, SINK_GROUP, event), flow = trace_attr(k, SINK_FLOW_IN, event);
    uint32_t step = group == SINK_NO_VALUE ? STEP_NONE : vp_map_get(&o->groups, (uint64_t)group);
    return step != STEP_NONE || flow == SINK_NO_VALUE ? step
                                                      : vp_map_get(&o->flows, (uint64_t)flow);
}

void step_owner_forget(const analysis *a)
{
    analysis_forget(a, SINK_FLOW_OUT);
    analysis_forget(a, SINK_FLOW_IN);
}
