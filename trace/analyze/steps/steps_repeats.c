/* Number of runs of each module per step. */
#include "trace/analyze/device/module_runs.h"
#include "trace/analyze/steps/steps_parts.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/links/run_launches.h"

#define NOT_READ (VP_MAP_NONE - 1)

/* Number of runs of each module in the current step. */
typedef struct repeats {
    const analysis *a;
    vp_map by_key;                    /* name and program → module */
    uint32_t *module_of;              /* by kind of a run; NOT_READ: no run of the kind yet */
    int64_t *count, *total;           /* by module */
    uint32_t *touched, touched_count; /* modules with a count */
    uint32_t step;
} repeats;

static void close_step(repeats *r)
{
    const vp_step *list = r->a->h->steps.list;
    bool counts = r->step != STEP_NONE && vp_step_counts(&list[r->step]);
    for (uint32_t i = 0; i < r->touched_count; i++) {
        uint32_t m = r->touched[i];
        module_item *x = &r->a->h->modules[m];
        x->in_steps += counts;
        x->in_steps_ps += counts ? r->total[m] : 0;
        if (counts && r->count[m] >= MODULE_REPEATS) {
            x->repeat_steps++;
            x->repeat_runs += r->count[m];
            x->repeat_ps += r->total[m];
        }
        r->count[m] = r->total[m] = 0;
    }
    r->touched_count = 0;
}

static void repeats_add_run(repeats *r, uint32_t module, uint32_t step, int64_t dur)
{
    if (step != r->step)
        close_step(r);
    r->step = step;
    if (module == VP_MAP_NONE)
        return;
    if (!r->count[module]++)
        r->touched[r->touched_count++] = module;
    r->total[module] += dur;
}

/* The step that contains a time on its critical device (aligned, before the origin is subtracted).
 */
static uint32_t critical_step_at(const analysis *a, uint32_t d, int64_t at)
{
    const step_windows *w = &a->windows[d];
    const vp_step *list = a->h->steps.list;
    size_t low = 0, high = w->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (w->aligned_ps[mid] <= at)
            low = mid + 1;
        else
            high = mid;
    }
    if (!low || list[w->step[low - 1]].device != d)
        return STEP_NONE;
    int64_t dur = w->end_ps[low - 1] - w->start_ps[low - 1];
    return low == w->count && at >= w->aligned_ps[low - 1] + dur ? STEP_NONE : w->step[low - 1];
}

/* The name of a kind is parsed once, since a module may run a million times. */
static uint32_t module_of_kind(repeats *r, uint32_t kind)
{
    const trace *t = r->a->t;
    int64_t program = SINK_UNKNOWN;
    if (r->module_of[kind] == NOT_READ) {
        vp_str name = trace_module_name(trace_str(t, t->kinds[kind].name), &program);
        r->module_of[kind] = vp_map_get(&r->by_key, module_runs_key(name, program));
    }
    return r->module_of[kind];
}

/* A run belongs to the step that contains its middle: on the aligned clock it may begin slightly
 * before its first op. */
static void runs_of_track(repeats *r, const trace_track *k, uint32_t d)
{
    for (size_t e = 0; e < k->count; e++) {
        int64_t start = trace_aligned_start(k, e);
        int64_t middle = start + (trace_aligned_end(k, e) - start) / 2;
        repeats_add_run(r, module_of_kind(r, trace_kind_of(k, e)),
                        critical_step_at(r->a, d, middle), trace_dur(k, e));
    }
    close_step(r);
    r->step = STEP_NONE;
}

static uint32_t device_of_process(const analysis *a, uint32_t process)
{
    for (uint32_t d = 0; d < a->device_count; d++)
        if (a->devices[d].process == process)
            return d;
    return STEP_NONE;
}

/* Runs on XLA:CPU, by the run ids of ops. They are sorted by device. */
static void add_runs_of_ops(repeats *r)
{
    const run_launches *l = r->a->runs;
    uint32_t d = STEP_NONE;
    for (size_t i = 0; i < l->count; i++) {
        const module_run *x = &l->run[i];
        int64_t middle = x->start_ps + (x->end_ps - x->start_ps) / 2;
        uint32_t kind = trace_kind_of(&r->a->t->tracks[x->track], x->event);
        uint32_t module = modules_find(&r->by_key, r->a->t, kind);
        if (!i || l->run[i - 1].process != x->process) {
            close_step(r);
            r->step = STEP_NONE;
            d = device_of_process(r->a, x->process);
        }
        if (module != VP_MAP_NONE) {
            module_item *m = &r->a->h->modules[module];
            m->runs = m->runs < 0 ? 1 : m->runs + 1;
        }
        if (r->a->windows && d != STEP_NONE && r->a->windows[d].count)
            repeats_add_run(r, module, critical_step_at(r->a, d, middle), x->end_ps - x->start_ps);
    }
    close_step(r);
}

static bool any_runs(const analysis *a)
{
    if (a->runs->count)
        return true;
    for (uint32_t i = 0; i < a->t->track_count; i++)
        if (a->t->tracks[i].role == SINK_ROLE_MODULES && a->t->tracks[i].count)
            return true;
    return false;
}

static int count_repeats(repeats *r)
{
    const host_result *h = r->a->h;
    for (size_t i = 0; r->a->windows && i < h->module_count; i++) {
        module_item *x = &h->modules[i];
        x->repeat_steps = x->repeat_ps = x->repeat_runs = x->in_steps = x->in_steps_ps = 0;
    }
    VP_TRY(modules_index(&r->by_key, h));
    for (uint32_t k = 0; k < r->a->t->kind_count; k++)
        r->module_of[k] = NOT_READ;
    for (uint32_t d = 0; r->a->windows && d < r->a->device_count; d++)
        TRACE_EACH_OF(r->a->t, r->a->devices[d].process, i)
    if (r->a->windows[d].count && r->a->t->tracks[i].role == SINK_ROLE_MODULES)
        runs_of_track(r, &r->a->t->tracks[i], d);
    add_runs_of_ops(r);
    return 0;
}

int step_modules_repeats(const analysis *a)
{
    size_t n = a->h->module_count + 1;
    repeats r = {.a = a,
                 .module_of =
                     vp_realloc_array(NULL, (size_t)a->t->kind_count + 1, sizeof *r.module_of),
                 .count = vp_calloc(n, sizeof *r.count),
                 .total = vp_calloc(n, sizeof *r.total),
                 .touched = vp_calloc(n, sizeof *r.touched),
                 .step = STEP_NONE};
    vp_map_init(&r.by_key);
    int rc = r.module_of && r.count && r.total && r.touched ? 0 : vp_no_memory();
    if (rc >= 0 && a->h->has_devices && any_runs(a))
        rc = count_repeats(&r);
    vp_map_free(&r.by_key);
    vp_free(r.module_of);
    vp_free(r.count);
    vp_free(r.total);
    vp_free(r.touched);
    return rc;
}
