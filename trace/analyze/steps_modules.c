#include "trace/analyze/steps_parts.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

static const trace_kind *kind_at(const trace *t, const trace_track *k, size_t e)
{
    return &t->kinds[k->kind[e]];
}

static bool has_runs(const step_search *s, const trace_track *k)
{
    return k->role == SINK_ROLE_MODULES && k->count && s->device_of[k->process] != STEP_NONE;
}

static vp_sid largest(const int64_t *total, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (total[i] > total[best])
            best = i;
    return (vp_sid)best;
}

/* ---- Runs on a line of their own ---- */

/* The name, with its program id, that runs longest over all devices; 0 without runs. */
static int longest_run(vp_sid *out, const step_search *s, const trace *t)
{
    VP_CLEANUP(vp_free_ptr) int64_t *total = vp_calloc(t->names.count + 1, sizeof *total);
    if (!total)
        return vp_fail(VP_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        for (size_t e = 0; has_runs(s, k) && e < k->count; e++)
            total[kind_at(t, k, e)->name] += k->dur_ps[e];
    }
    *out = largest(total, t->names.count);
    return 0;
}

static int marks_of_runs(step_search *s, const trace *t, vp_sid name)
{
    for (uint32_t i = 0; i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        for (size_t e = 0; has_runs(s, k) && e < k->count; e++) {
            int64_t program;
            if (kind_at(t, k, e)->name != name)
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

/* ---- Runs that only their ops show (GPU) ---- */

static int longest_by_ops(vp_sid *out, const trace *t, const device_work *w)
{
    VP_CLEANUP(vp_free_ptr) int64_t *total = vp_calloc(t->names.count + 1, sizeof *total);
    int64_t all = 0;
    if (!total)
        return vp_fail(VP_ENOMEM, "out of memory");
    for (uint32_t k = 0; k < t->kind_count; k++) {
        all += w->times->self_ps[k];
        total[t->kinds[k].module] += t->kinds[k].module ? w->times->self_ps[k] : 0;
    }
    vp_sid best = largest(total, t->names.count);
    *out = total[best] > all / 2 ? best : 0;
    return 0;
}

/* How often each run of the module calls its rarest op, if every op is called a multiple of that:
 * so often did it run. 0: not regular, or below 3. */
static int64_t runs_by_ops(const trace *t, const device_work *w, vp_sid module)
{
    int64_t runs = INT64_MAX;
    for (uint32_t k = 0; k < t->kind_count; k++)
        if (t->kinds[k].module == module && w->times->calls[k] && w->times->calls[k] < runs)
            runs = w->times->calls[k];
    for (uint32_t k = 0; k < t->kind_count; k++)
        if (t->kinds[k].module == module && runs && w->times->calls[k] % runs)
            return 0;
    return runs < INT64_MAX && runs >= 3 ? runs : 0;
}

/* The op that comes first among those that each run calls once. */
static uint32_t opening_op(const trace *t, const device_work *w, vp_sid module, int64_t runs,
                           uint32_t *track)
{
    int64_t first = INT64_MAX;
    uint32_t best = STEP_NONE;
    for (size_t i = 0; i < w->set.count; i++) {
        const trace_track *k = &t->tracks[w->set.tracks[i]];
        size_t e = 0;
        while (e < k->count &&
               (kind_at(t, k, e)->module != module || w->times->calls[k->kind[e]] != runs))
            e++;
        if (e < k->count && k->start_ps[e] < first) {
            first = k->start_ps[e];
            best = k->kind[e];
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
        if (k->kind[e] == opening)
            VP_TRY(step_marks_add(m, &mark));
    }
    return 0;
}

/* Whether every op of the module comes equally often in each run: what repeats in another rhythm is
 * several programs of one name. The last run ends where the device's work does. */
static int is_regular(bool *yes, const step_marks *m, const trace *t, const device_work *w,
                      vp_sid module)
{
    VP_CLEANUP(vp_free_ptr) int64_t *seen = vp_calloc(t->kind_count, sizeof *seen);
    if (!seen)
        return vp_fail(VP_ENOMEM, "out of memory");
    for (size_t i = 0; i < w->set.count && *yes; i++) {
        const trace_track *k = &t->tracks[w->set.tracks[i]];
        size_t run = 0;
        for (size_t e = 0; e < k->count && *yes; e++) {
            uint32_t kind = k->kind[e];
            while (run + 1 < m->n && m->v[run + 1].start <= k->start_ps[e])
                run++;
            if (t->kinds[kind].module == module)
                *yes = (size_t)(seen[kind]++ / (w->times->calls[kind] / (int64_t)m->n)) == run;
        }
    }
    return 0;
}

static int marks_of_ops(step_marks *m, const trace *t, const device_work *w)
{
    vp_sid module = 0;
    uint32_t track = 0;
    bool regular = true;
    VP_TRY(longest_by_ops(&module, t, w));
    int64_t runs = module ? runs_by_ops(t, w, module) : 0;
    uint32_t opening = runs ? opening_op(t, w, module, runs, &track) : STEP_NONE;
    if (opening == STEP_NONE)
        return 0;
    VP_TRY(add_openings(m, t, track, opening, module));
    regular = (int64_t)m->n == runs;
    VP_TRY(is_regular(&regular, m, t, w, module));
    if (!regular)
        m->n = 0;
    return 0;
}

int step_modules_marks(step_search *s, const analysis *a)
{
    vp_sid name = 0;
    bool repeats = false;
    VP_TRY(longest_run(&name, s, a->t));
    if (name)
        VP_TRY(marks_of_runs(s, a->t, name));
    for (size_t d = 0; !name && d < a->device_count; d++)
        if (a->t->processes[a->devices[d].process].kind == SINK_PROCESS_GPU)
            VP_TRY(marks_of_ops(&s->device[d], a->t, &a->devices[d]));
    for (size_t d = 0; d < a->device_count; d++) {
        step_marks_order(&s->device[d]);
        repeats = repeats || s->device[d].n >= 2;
    }
    for (size_t d = 0; !repeats && d < a->device_count; d++)
        s->device[d].n = 0;
    return 0;
}
