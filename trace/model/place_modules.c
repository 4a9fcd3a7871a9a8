/* Finds the module run of ops whose event does not state the module. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/model/trace.h"

/* State of a kind: UNSEEN; NAMED by its events; else the kind of the runs that contain its events,
 * plus 1; 0: no run contains them. */
#define UNSEEN UINT32_MAX
#define NAMED (UINT32_MAX - 1)

typedef struct placing {
    trace *t;
    uint32_t *run_of; /* by kind, for the kinds of the file */
    vp_map variants;  /* kind and run → the kind's copy for that run's module */
} placing;

vp_str trace_module_name(vp_str text, int64_t *program_id)
{
    uint64_t id;
    size_t open = vp_str_rfind_char(text, '(');
    if (open == text.n || !vp_str_ends(text, VP_STR(")")))
        return text;
    if (!vp_str_to_u64((vp_str){text.p + open + 1, text.n - open - 2}, &id))
        return text;
    *program_id = (int64_t)id;
    return vp_str_head(text, open);
}

/* Kind of the run that contains the instant, plus 1; 0: none. Runs of a device do not overlap, and
 * ops are in order: *last is the run of the previous op. */
static uint32_t run_at(const trace_track *runs, int64_t at, size_t *last)
{
    size_t low = 0, high = runs->count;
    if (*last < high && at >= trace_aligned_start(runs, *last) &&
        at < trace_aligned_end(runs, *last))
        return trace_kind_of(runs, *last) + 1;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (trace_aligned_start(runs, mid) <= at)
            low = mid + 1;
        else
            high = mid;
    }
    bool held = low && at < trace_aligned_end(runs, low - 1);
    *last = held ? low - 1 : *last;
    return held ? trace_kind_of(runs, low - 1) + 1 : 0;
}

static int set_module(trace *t, uint32_t kind, uint32_t run)
{
    trace_kind *k = &t->kinds[kind];
    int64_t program = k->program_id;
    if (!run)
        return 0;
    vp_str name = trace_module_name(trace_str(t, t->kinds[run - 1].name), &program);
    k->program_id = program;
    return vp_intern_put(&t->names, name, &k->module);
}

/* Equal ops of two modules are one kind in the file, and two here. */
static int use_variant(placing *p, trace_track *ops, size_t event, uint32_t run)
{
    trace *t = p->t;
    uint32_t id, kind = trace_kind_of(ops, event);
    int made = trace_variant(t, &p->variants, (uint64_t)kind << 32 | run, kind, &id);
    VP_TRY(made);
    VP_TRY(trace_times_set_kind(&ops->own, event, id));
    if (!made)
        return 0;
    t->kinds[id].module = 0;
    return set_module(t, id, run);
}

static int place_track(placing *p, trace_track *ops, const trace_track *runs)
{
    size_t last = 0;
    for (size_t e = 0; e < ops->count; e++) {
        uint32_t *seen = &p->run_of[trace_kind_of(ops, e)];
        if (*seen == NAMED)
            continue;
        uint32_t run = run_at(runs, trace_aligned_start(ops, e), &last);
        if (*seen == UNSEEN) {
            *seen = run;
            VP_TRY(set_module(p->t, trace_kind_of(ops, e), run));
        } else if (*seen != run) {
            VP_TRY(use_variant(p, ops, e, run));
        }
    }
    return 0;
}

static const trace_track *module_runs_of(const trace *t, uint32_t process)
{
    TRACE_EACH_OF(t, process, i)
    if (t->tracks[i].role == SINK_ROLE_MODULES && t->tracks[i].count)
        return &t->tracks[i];
    return NULL;
}

static int place_ops_in_modules(placing *p)
{
    typedef const trace_track *track;
    trace *t = p->t;
    VP_CLEANUP(vp_free_ptr) track *runs = vp_calloc((size_t)t->process_count + 1, sizeof *runs);
    VP_NEED(runs);
    for (uint32_t i = 0; i < t->process_count; i++)
        runs[i] = module_runs_of(t, i);
    for (uint32_t i = 0; i < t->track_count; i++) {
        trace_track *k = &t->tracks[i];
        if (k->role == SINK_ROLE_OPS && runs[k->process])
            VP_TRY(place_track(p, k, runs[k->process]));
    }
    return 0;
}

static bool all_named(const trace *t)
{
    for (uint32_t i = 0; i < t->kind_count; i++)
        if (t->kinds[i].is_op && !t->kinds[i].module)
            return false;
    return true;
}

/* XLA:TPU's JSON has no module in its ops. Module runs are on a separate line, on the host's clock
 * only (docs/reference/metrics.md#clocks). */
int trace_place_modules(trace *t)
{
    if (all_named(t))
        return 0;
    placing p = {.t = t, .run_of = vp_calloc((size_t)t->kind_count + 1, sizeof *p.run_of)};
    VP_NEED(p.run_of);
    for (uint32_t i = 0; i < t->kind_count; i++)
        p.run_of[i] = t->kinds[i].module ? NAMED : UNSEEN;
    vp_map_init(&p.variants);
    int rc = place_ops_in_modules(&p);
    vp_map_free(&p.variants);
    vp_free(p.run_of);
    return rc;
}
