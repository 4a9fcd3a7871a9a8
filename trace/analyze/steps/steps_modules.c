/* Steps without marks: the runs of the module that repeats. */
#include "trace/analyze/steps/steps_parts.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/links/run_launches.h"

static const trace_kind *kind_of_track_event(const trace *t, const trace_track *k, size_t e)
{
    return &t->kinds[trace_kind_of(k, e)];
}

static bool has_runs_of_device(const step_search *s, const trace_track *k)
{
    return k->role == SINK_ROLE_MODULES && k->count && s->device_of[k->process] != STEP_NONE;
}

static vp_sid largest_total(const int64_t *total, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (total[i] > total[best])
            best = i;
    return (vp_sid)best;
}

/* ---- Runs on module tracks ---- */

/* The module (a name with its program id) with the most total time over all devices; 0: no runs. */
static int longest_run(vp_sid *out, const step_search *s, const trace *t)
{
    VP_CLEANUP(vp_free_ptr) int64_t *total = vp_calloc(t->names.count + 1, sizeof *total);
    VP_NEED(total);
    for (uint32_t i = 0; i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        for (size_t e = 0; has_runs_of_device(s, k) && e < k->count; e++)
            total[kind_of_track_event(t, k, e)->name] += trace_dur(k, e);
    }
    *out = largest_total(total, t->names.count);
    return 0;
}

static int marks_of_module_runs(step_search *s, const trace *t, vp_sid name)
{
    for (uint32_t i = 0; i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        for (size_t e = 0; has_runs_of_device(s, k) && e < k->count; e++) {
            int64_t program;
            if (kind_of_track_event(t, k, e)->name != name)
                continue;
            step_mark mark = {.start = trace_aligned_start(k, e),
                              .end = trace_aligned_end(k, e),
                              .number = VP_UNKNOWN,
                              .group = SINK_NO_VALUE,
                              .name = trace_module_name(trace_str(t, name), &program),
                              .track = i,
                              .step = STEP_NONE};
            VP_TRY(step_marks_add(&s->device[s->device_of[k->process]], &mark));
        }
    }
    return 0;
}

/* ---- Runs derived from ops (GPU) ---- */

/* Buffers that the devices share. Both arrays are all 0 between devices. */
typedef struct ops_rhythm {
    int64_t *total; /* by name */
    int64_t *seen;  /* by kind */
} ops_rhythm;

/* The module with more than half of the self time; 0: none. */
static vp_sid longest_by_ops(const trace *t, const kind_list *l, int64_t *total)
{
    int64_t all = 0;
    vp_sid best = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        vp_sid module = t->kinds[l->kind[i]].module;
        all += l->self_ps[i];
        total[module] += module ? l->self_ps[i] : 0;
    }
    for (uint32_t i = 0; i < l->n; i++)
        if (total[t->kinds[l->kind[i]].module] > all / 2)
            best = t->kinds[l->kind[i]].module;
    for (uint32_t i = 0; i < l->n; i++)
        total[t->kinds[l->kind[i]].module] = 0;
    return best;
}

/* The number of runs of a module, derived from its ops: the calls of its rarest op, if every op has
 * a multiple of that. 0: the ops are not that regular, or there were fewer than 3 runs. */
static int64_t runs_by_ops(const trace *t, const kind_list *l, vp_sid module)
{
    int64_t runs = INT64_MAX;
    for (uint32_t i = 0; i < l->n; i++)
        if (t->kinds[l->kind[i]].module == module && l->calls[i] < runs)
            runs = l->calls[i];
    for (uint32_t i = 0; i < l->n; i++)
        if (t->kinds[l->kind[i]].module == module && l->calls[i] % runs)
            return 0;
    return runs < INT64_MAX && runs >= 3 ? runs : 0;
}

/* The first op among those that each run calls once: its calls are the starts of runs. */
static uint32_t opening_op(const trace *t, const device_work *w, vp_sid module, int64_t runs,
                           uint32_t *track)
{
    int64_t first = INT64_MAX;
    uint32_t best = STEP_NONE;
    for (size_t i = 0; i < w->set.count; i++) {
        const trace_track *k = &t->tracks[w->set.tracks[i]];
        size_t e = 0;
        while (e < k->count && (kind_of_track_event(t, k, e)->module != module ||
                                kind_list_calls(&w->times, trace_kind_of(k, e)) != runs))
            e++;
        if (e < k->count && trace_start(k, e) < first) {
            first = trace_start(k, e);
            best = trace_kind_of(k, e);
            *track = w->set.tracks[i];
        }
    }
    return best;
}

static int add_openings(step_marks *m, const trace *t, uint32_t track, uint32_t opening,
                        vp_sid module)
{
    const trace_track *k = &t->tracks[track];
    for (size_t e = 0; e < k->count; e++) {
        step_mark mark = {.start = trace_aligned_start(k, e),
                          .end = trace_aligned_end(k, e),
                          .number = VP_UNKNOWN,
                          .group = SINK_NO_VALUE,
                          .name = trace_str(t, module),
                          .track = track,
                          .step = STEP_NONE};
        if (trace_kind_of(k, e) == opening)
            VP_TRY(step_marks_add(m, &mark));
    }
    return 0;
}

/* True if each op of the module has the same number of calls in each run. Otherwise several
 * programs have the same name. The last run ends with the device's work. */
static bool is_regular_module(const step_marks *m, const trace *t, const device_work *w,
                              vp_sid module, int64_t *seen)
{
    bool yes = true;
    for (size_t i = 0; i < w->set.count && yes; i++) {
        const trace_track *k = &t->tracks[w->set.tracks[i]];
        size_t run = 0;
        for (size_t e = 0; e < k->count && yes; e++) {
            uint32_t kind = trace_kind_of(k, e);
            while (run + 1 < m->n && m->v[run + 1].start <= trace_start(k, e))
                run++;
            if (t->kinds[kind].module == module)
                yes = (size_t)(seen[kind]++ / (kind_list_calls(&w->times, kind) / (int64_t)m->n)) ==
                      run;
        }
    }
    for (uint32_t i = 0; i < w->times.n; i++)
        seen[w->times.kind[i]] = 0;
    return yes;
}

static int marks_of_ops(step_marks *m, const trace *t, const device_work *w, const ops_rhythm *r)
{
    uint32_t track = 0;
    vp_sid module = longest_by_ops(t, &w->times, r->total);
    int64_t runs = module ? runs_by_ops(t, &w->times, module) : 0;
    uint32_t opening = runs ? opening_op(t, w, module, runs, &track) : STEP_NONE;
    if (opening == STEP_NONE)
        return 0;
    VP_TRY(add_openings(m, t, track, opening, module));
    if ((int64_t)m->n != runs || !is_regular_module(m, t, w, module, r->seen))
        m->n = 0;
    return 0;
}

static int marks_of_all_ops(step_search *s, const analysis *a)
{
    VP_CLEANUP(vp_free_ptr)
    int64_t *total = vp_calloc(a->t->names.count + 1, sizeof *total);
    VP_CLEANUP(vp_free_ptr) int64_t *seen = vp_calloc(a->t->kind_count, sizeof *seen);
    const ops_rhythm r = {total, seen};
    VP_NEED(total && seen);
    for (size_t d = 0; d < a->device_count; d++)
        if (a->t->processes[a->devices[d].process].kind == SINK_PROCESS_GPU)
            VP_TRY(marks_of_ops(&s->device[d], a->t, &a->devices[d], &r));
    return 0;
}

/* ---- Runs with ids in their ops (XLA:CPU) ---- */

static vp_sid module_of_run(const trace *t, const module_run *x)
{
    return kind_of_track_event(t, &t->tracks[x->track], x->event)->module;
}

static int marks_of_runs(step_search *s, const analysis *a)
{
    VP_CLEANUP(vp_free_ptr)
    int64_t *total = vp_calloc(a->t->names.count + 1, sizeof *total);
    VP_NEED(total);
    for (size_t i = 0; i < a->runs->count; i++) {
        vp_sid module = module_of_run(a->t, &a->runs->run[i]);
        total[module] += module ? a->runs->run[i].end_ps - a->runs->run[i].start_ps : 0;
    }
    vp_sid longest = largest_total(total, a->t->names.count);
    for (size_t i = 0; longest && i < a->runs->count; i++) {
        const module_run *x = &a->runs->run[i];
        uint32_t d = s->device_of[x->process];
        step_mark mark = {.start = x->start_ps,
                          .end = x->end_ps,
                          .number = VP_UNKNOWN,
                          .group = SINK_NO_VALUE,
                          .name = trace_str(a->t, longest),
                          .track = x->track,
                          .step = STEP_NONE};
        if (d != STEP_NONE && module_of_run(a->t, x) == longest)
            VP_TRY(step_marks_add(&s->device[d], &mark));
    }
    return 0;
}

int step_modules_marks(step_search *s, const analysis *a)
{
    vp_sid name = 0;
    bool repeats = false;
    VP_TRY(longest_run(&name, s, a->t));
    if (name)
        VP_TRY(marks_of_module_runs(s, a->t, name));
    else if (a->runs->count)
        VP_TRY(marks_of_runs(s, a));
    else
        VP_TRY(marks_of_all_ops(s, a));
    for (size_t d = 0; d < a->device_count; d++) {
        step_marks_order(&s->device[d]);
        repeats = repeats || s->device[d].n >= 2;
    }
    for (size_t d = 0; !repeats && d < a->device_count; d++)
        s->device[d].n = 0;
    return 0;
}
