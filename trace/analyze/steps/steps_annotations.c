/* Steps of programs whose profiler does not mark them: repeated annotations, and calls of the
 * optimizer (docs/reference/metrics.md#steps). */
#include <string.h>

#include "trace/analyze/steps/steps_parts.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/links/call_chains.h"

/* Annotations that differ only in a number are one loop. */
typedef struct loop {
    vp_str name;  /* name without the number */
    size_t count; /* on the main thread */
    int64_t total_ps;
    size_t last_lead, follows; /* number of alternations with the lead loop */
    bool numbered;
} loop;

typedef struct loops {
    const trace *t;
    uint32_t *of_kind;  /* VP_MAP_NONE: no step */
    int64_t *number_of; /* by kind; VP_UNKNOWN */
    loop *v;
    size_t count, cap;
    vp_map by_name;
    uint32_t track; /* the main thread */
} loops;

typedef bool annotation_test(vp_str name);

static bool is_optimizer_step(vp_str name)
{
    return vp_str_starts(name, VP_STR("Optimizer.step#"));
}

/* Annotations of PyTorch and its libraries are parts of a step, or contain many steps. */
static bool is_user_step(vp_str name)
{
    static const char *const libraries[] = {
        "ProfilerStep",
        "PyTorch Profiler",
        "Iteration Start",
        "enumerate(DataLoader)#",
        "## ",
        "Optimizer.",
        "Torch-Compiled Region",
        "CompiledFunction",
        "AOTDispatcher",
        "TorchDynamo",
        "DistributedDataParallel",
        "FSDP",
        "FullyShardedDataParallel",
        "record_param_comms",
        "nccl:",
        "gloo:",
        "mpi:",
        "ucc:",
        "Inductor",
        "triton",
    };
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (vp_str_starts(name, vp_str_of(libraries[i])))
            return false;
    return vp_str_find_nocase(name, VP_STR("epoch")) == name.n;
}

/* Splits "train_step 12", "step_12" and "step(12)". *number: VP_UNKNOWN without one. */
static vp_str split_step_number(vp_str name, int64_t *number)
{
    static const char separators[] = " #_-:=[({/.";
    size_t end = name.n, from;
    *number = VP_UNKNOWN;
    while (end && strchr(")]}", name.p[end - 1]))
        end--;
    from = vp_str_without_digits(vp_str_head(name, end)).n;
    if (from == end || from < 2 || !memchr(separators, name.p[from - 1], sizeof separators - 1) ||
        !vp_str_to_i64((vp_str){name.p + from, end - from}, number))
        return name;
    return vp_str_head(name, from - 1);
}

static int find_loops(loops *l, annotation_test *is_step)
{
    for (uint32_t k = 0; k < l->t->kind_count; k++) {
        vp_str name = trace_str(l->t, l->t->kinds[k].name);
        l->of_kind[k] = VP_MAP_NONE;
        if (chain_class_of(l->t, &l->t->kinds[k]) != CHAIN_ANNOTATION || !is_step(name))
            continue;
        name = split_step_number(name, &l->number_of[k]);
        uint64_t key = vp_hash(name.p, name.n, 0);
        uint32_t at = vp_map_get(&l->by_name, key);
        if (at == VP_MAP_NONE) {
            at = (uint32_t)l->count;
            VP_TRY(vp_grow(&l->v, &l->cap, l->count + 1, sizeof *l->v, VP_INTERN_MAX));
            VP_TRY(vp_map_set(&l->by_name, key, at));
            l->v[l->count++] = (loop){.name = name};
        }
        l->of_kind[k] = at;
    }
    return 0;
}

static bool is_program_thread(const trace *t, const trace_track *k)
{
    return k->role == SINK_ROLE_PLAIN && t->processes[k->process].kind == SINK_PROCESS_HOST;
}

/* The main thread is the one with the most annotated time. false: there are no annotations. */
static bool find_main_thread(loops *l)
{
    int64_t best = -1;
    for (uint32_t i = 0; i < l->t->track_count; i++) {
        const trace_track *k = &l->t->tracks[i];
        int64_t total = 0, reach = INT64_MIN;
        bool any = false;
        for (size_t e = 0; is_program_thread(l->t, k) && e < k->count; e++) {
            if (l->of_kind[trace_kind_of(k, e)] == VP_MAP_NONE || trace_start(k, e) < reach)
                continue;
            any = true;
            reach = trace_end(k, e);
            total += trace_dur(k, e);
        }
        if (any && total > best) {
            best = total;
            l->track = i;
        }
    }
    return best >= 0;
}

static void count_loops(loops *l)
{
    const trace_track *k = &l->t->tracks[l->track];
    for (size_t e = 0; e < k->count; e++) {
        uint32_t kind = trace_kind_of(k, e), at = l->of_kind[kind];
        if (at == VP_MAP_NONE)
            continue;
        l->v[at].count++;
        l->v[at].total_ps += trace_dur(k, e);
        l->v[at].numbered = l->v[at].numbered || l->number_of[kind] != VP_UNKNOWN;
    }
}

/* The outermost annotations of loops that repeat. The step of a mark is its loop. */
static int gather_repeats(step_marks *m, loops *l)
{
    const trace_track *k = &l->t->tracks[l->track];
    int64_t reach = INT64_MIN;
    for (size_t e = 0; e < k->count; e++) {
        uint32_t kind = trace_kind_of(k, e), at = l->of_kind[kind];
        if (at == VP_MAP_NONE || l->v[at].count < 2 || trace_aligned_start(k, e) < reach)
            continue;
        step_mark mark = {.start = trace_aligned_start(k, e),
                          .end = trace_aligned_end(k, e),
                          .number = l->number_of[kind],
                          .group = SINK_NO_VALUE,
                          .name = l->v[at].name,
                          .track = l->track,
                          .step = at,
                          .is_cut = l->t->kinds[kind].unfinished};
        reach = mark.end;
        VP_TRY(step_marks_add(m, &mark));
    }
    return 0;
}

static void recount_outermost(loops *l, const step_marks *m)
{
    for (size_t i = 0; i < l->count; i++)
        l->v[i].count = 0;
    for (size_t i = 0; i < m->n; i++)
        l->v[m->v[i].step].count++;
}

/* Adds the marks of numbered loops that repeat: each loop is a series of steps. */
static bool keep_numbered(step_marks *m, const loops *l)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].number != VP_UNKNOWN && l->v[m->v[i].step].count >= 2)
            m->v[n++] = m->v[i];
    if (n)
        m->n = n;
    return n > 0;
}

/* The loop with the most repetitions; ties: the one that begins first. */
static uint32_t lead_loop(const step_marks *m, const loops *l)
{
    uint32_t best = m->v[0].step;
    for (size_t i = 1; i < m->n; i++)
        if (l->v[m->v[i].step].count > l->v[best].count)
            best = m->v[i].step;
    return best;
}

/* Counts for each loop how often it occurs exactly once between two annotations of the lead. */
static void count_followers(loops *l, const step_marks *m, uint32_t lead)
{
    size_t round = 0;
    for (size_t i = 0; i < m->n; i++) {
        loop *x = &l->v[m->v[i].step];
        round += m->v[i].step == lead;
        if (round && x->last_lead != round)
            x->follows++;
        x->last_lead = round;
    }
}

/* Forward, backward and update may have separate annotations. A step then lasts from the lead's
 * annotation to the end of the last one that occurs once in every step, and has the name of the
 * longest. */
static void join_followers(step_marks *m, loops *l)
{
    uint32_t lead = lead_loop(m, l), longest = lead;
    size_t times = l->v[lead].count, n = 0;
    count_followers(l, m, lead);
    for (size_t i = 0; i < m->n; i++) {
        const step_mark x = m->v[i];
        const loop *of = &l->v[x.step];
        if (of->count != times || of->follows != times)
            continue;
        longest = of->total_ps > l->v[longest].total_ps ? x.step : longest;
        if (x.step == lead)
            m->v[n++] = x;
        else if (n)
            m->v[n - 1].end = x.end;
    }
    m->n = n;
    for (size_t i = 0; i < n; i++)
        m->v[i].name = l->v[longest].name;
}

/* A step ends with the call of the optimizer, and begins at the end of the previous step. */
static void mark_end_to_end(step_marks *m, const loops *l)
{
    int64_t from = trace_aligned_start(&l->t->tracks[l->track], 0);
    for (size_t i = 0; i < m->n; i++) {
        m->v[i].start = from;
        from = m->v[i].end;
    }
}

static int marks_of_annotations(step_marks *m, const trace *t, annotation_test *is_step)
{
    loops l = {.t = t,
               .of_kind = vp_realloc_array(NULL, (size_t)t->kind_count + 1, sizeof *l.of_kind),
               .number_of = vp_realloc_array(NULL, (size_t)t->kind_count + 1, sizeof *l.number_of)};
    vp_map_init(&l.by_name);
    int rc = l.of_kind && l.number_of ? find_loops(&l, is_step) : vp_no_memory();
    if (rc >= 0 && l.count && find_main_thread(&l)) {
        count_loops(&l);
        rc = gather_repeats(m, &l);
        recount_outermost(&l, m);
        if (rc >= 0 && m->n && is_step == is_optimizer_step)
            mark_end_to_end(m, &l);
        else if (rc >= 0 && m->n && !keep_numbered(m, &l))
            join_followers(m, &l);
    }
    for (size_t i = 0; i < m->n; i++)
        m->v[i].step = STEP_NONE;
    vp_map_free(&l.by_name);
    vp_free(l.v);
    vp_free(l.of_kind);
    vp_free(l.number_of);
    return rc;
}

int step_annotation_marks(step_search *s, const analysis *a)
{
    static const struct {
        annotation_test *is_step;
        vp_step_source source;
    } tries[] = {{is_user_step, VP_STEPS_REPEATED}, {is_optimizer_step, VP_STEPS_OPTIMIZER}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries && !s->host.n; i++) {
        VP_TRY(marks_of_annotations(&s->host, a->t, tries[i].is_step));
        if (s->host.n)
            s->source = tries[i].source;
    }
    return 0;
}

int step_named_marks(step_marks *m, const analysis *a)
{
    const trace *t = a->t;
    const vp_str wanted = vp_str_of(a->h->steps_by);
    for (uint32_t i = 0; i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        for (size_t e = 0; is_program_thread(t, k) && e < k->count; e++) {
            const trace_kind *kind = &t->kinds[trace_kind_of(k, e)];
            int64_t number, stated = trace_attr(k, SINK_STEP, e);
            vp_str name = split_step_number(trace_str(t, kind->name), &number);
            if (!vp_str_eq(name, wanted) && !vp_str_eq(trace_str(t, kind->name), wanted))
                continue;
            step_mark mark = {.start = trace_aligned_start(k, e),
                              .end = trace_aligned_end(k, e),
                              .number = stated != SINK_NO_VALUE ? stated : number,
                              .group = trace_attr(k, SINK_GROUP, e),
                              .name = wanted,
                              .track = i,
                              .step = STEP_NONE,
                              .is_cut = kind->unfinished};
            VP_TRY(step_marks_add(m, &mark));
        }
    }
    step_marks_order(m);
    return 0;
}
