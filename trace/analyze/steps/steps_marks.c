/* Steps that the program marks: profiler steps, annotations, lines of steps. */
#include <stdlib.h>

#include "trace/analyze/host/host_kinds.h"
#include "trace/analyze/steps/step_signs.h"
#include "trace/analyze/steps/steps_parts.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

void step_search_free(step_search *s)
{
    for (size_t i = 0; s->device && i < s->device_count; i++)
        step_marks_free(&s->device[i]);
    vp_free(s->device);
    vp_free(s->device_of);
    step_marks_free(&s->host);
    step_marks_free(&s->beside);
    *s = (step_search){0};
}

/* ---- The program's own marks ---- */

static bool is_profiler_step(const analysis *a, const trace_track *k, size_t e)
{
    const trace *t = a->t;
    return trace_attr(k, SINK_STEP, e) != SINK_NO_VALUE &&
           vp_str_starts(trace_str(t, t->kinds[trace_kind_of(k, e)].name), VP_STR("ProfilerStep#"));
}

/* TensorFlow marks each call of a function as a root. */
static bool is_function_call(const analysis *a, const trace_track *k, size_t e)
{
    return step_is_root(k, e) && host_kind_flags(a->kinds, trace_kind_of(k, e)) & HK_EXECUTE;
}

/* A step marked by the program: Keras, Trace, StepTraceAnnotation. Most have a number. */
static bool is_program_mark(const analysis *a, const trace_track *k, size_t e)
{
    return (step_is_root(k, e) || step_is_numbered(a->t, k, e)) && !is_profiler_step(a, k, e) &&
           !is_function_call(a, k, e);
}

/* Called only for events that have one of the attributes. */
typedef bool mark_test(const analysis *a, const trace_track *k, size_t event);

static step_mark mark_of(const trace *t, uint32_t track, size_t e)
{
    const trace_track *k = &t->tracks[track];
    int64_t number = trace_attr(k, SINK_STEP, e);
    return (step_mark){.start = trace_aligned_start(k, e),
                       .end = trace_aligned_end(k, e),
                       .number = number == SINK_NO_VALUE ? VP_UNKNOWN : number,
                       .group = trace_attr(k, SINK_GROUP, e),
                       .name = trace_str(t, t->kinds[trace_kind_of(k, e)].name),
                       .track = track,
                       .step = STEP_NONE,
                       .is_cut = t->kinds[trace_kind_of(k, e)].unfinished};
}

static size_t next_numbered(const trace_track *k, size_t event)
{
    return trace_column_next_of(k->attr[SINK_STEP], k->attr[SINK_ROOT], event);
}

static int gather_marks(step_marks *m, const analysis *a, mark_test *is_mark)
{
    const trace *t = a->t;
    for (uint32_t i = 0; i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        if (k->role != SINK_ROLE_PLAIN || t->processes[k->process].kind != SINK_PROCESS_HOST)
            continue;
        for (size_t e = next_numbered(k, 0); e < k->count; e = next_numbered(k, e + 1)) {
            if (!is_mark(a, k, e))
                continue;
            step_mark mark = mark_of(t, i, e);
            VP_TRY(step_marks_add(m, &mark));
        }
    }
    step_marks_order(m);
    return 0;
}

/* The track with the most marks; ties: the one with the longest marks, then the first. */
static uint32_t main_track(const step_marks *m, const trace *t)
{
    struct {
        int64_t count, length;
    } *of = vp_calloc(t->track_count, sizeof *of);
    uint32_t best = STEP_NONE;
    for (size_t i = 0; of && i < m->n; i++) {
        of[m->v[i].track].count++;
        of[m->v[i].track].length += m->v[i].end - m->v[i].start;
    }
    for (uint32_t i = 0; of && i < t->track_count; i++)
        if (of[i].count && (best == STEP_NONE || of[i].count > of[best].count ||
                            (of[i].count == of[best].count && of[i].length > of[best].length)))
            best = i;
    vp_free(of);
    return best;
}

/* Moves marks of other threads that overlap those of the main thread to `beside`. */
static int set_aside_overlaps(step_search *s, uint32_t main)
{
    step_marks *m = &s->host;
    size_t n = 0, ahead = 0;
    int64_t reach = INT64_MIN;
    for (size_t i = 0; i < m->n; i++) {
        const step_mark x = m->v[i];
        for (ahead = ahead > i ? ahead : i; ahead < m->n && m->v[ahead].track != main;)
            ahead++;
        if (x.track != main && (x.start < reach || (ahead < m->n && m->v[ahead].start < x.end))) {
            VP_TRY(step_marks_add(&s->beside, &x));
            continue;
        }
        reach = x.end > reach ? x.end : reach;
        m->v[n++] = x;
    }
    m->n = n;
    return 0;
}

/* A loop of a thread: its steps have one name. */
static uint64_t loop_of(const step_mark *x, uint32_t track)
{
    return vp_hash(x->name.p, x->name.n, track);
}

/* Moves the rest of loops with a step concurrent to one of the main thread, unless the main thread
 * has steps with the same name. loops: an empty map. */
static int set_aside_loops(step_search *s, uint32_t main, vp_map *loops)
{
    step_marks *m = &s->host;
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].track == main)
            VP_TRY(vp_map_set(loops, loop_of(&m->v[i], main), 0));
    for (size_t i = 0; i < s->beside.n; i++) {
        const step_mark *x = &s->beside.v[i];
        if (vp_map_get(loops, loop_of(x, main)) == VP_MAP_NONE)
            VP_TRY(vp_map_set(loops, loop_of(x, x->track), 0));
    }
    for (size_t i = 0; i < m->n; i++) {
        const step_mark *x = &m->v[i];
        if (x->track != main && vp_map_get(loops, loop_of(x, x->track)) != VP_MAP_NONE)
            VP_TRY(step_marks_add(&s->beside, x));
        else
            m->v[n++] = *x;
    }
    m->n = n;
    step_marks_order(&s->beside);
    return 0;
}

/* Threads may step concurrently. The steps are those of the main thread. Overlapping steps of other
 * threads only assign those threads' own work. If such a step has a name that no step of the main
 * thread has, its loop is a different one, and none of its steps count: if one of the loops
 * continues alone, its steps are not later steps of the other. */
static int keep_one_at_a_time(step_search *s, const trace *t)
{
    uint32_t main = main_track(&s->host, t);
    vp_map loops;
    if (main == STEP_NONE)
        return vp_no_memory();
    VP_TRY(set_aside_overlaps(s, main));
    if (!s->beside.n)
        return 0;
    vp_map_init(&loops);
    int rc = set_aside_loops(s, main, &loops);
    vp_map_free(&loops);
    return rc;
}

static uint64_t name_and_number(const step_mark *x)
{
    return vp_hash(x->name.p, x->name.n, (uint64_t)x->number);
}

int step_marks_join(step_search *s)
{
    vp_map known;
    int rc = 0;
    vp_map_init(&known);
    for (size_t i = 0; rc >= 0 && s->beside.n && i < s->host.n; i++)
        if (s->host.v[i].number != VP_UNKNOWN)
            rc = vp_map_set(&known, name_and_number(&s->host.v[i]), s->host.v[i].step);
    for (size_t i = 0; rc >= 0 && i < s->beside.n; i++) {
        step_mark *x = &s->beside.v[i];
        x->step = x->number == VP_UNKNOWN ? STEP_NONE : vp_map_get(&known, name_and_number(x));
    }
    vp_map_free(&known);
    return rc;
}

/* Functions that other threads call, such as those of the input pipeline, are parts of a step. */
static int keep_main_thread(step_marks *m, const trace *t)
{
    uint32_t main = main_track(m, t);
    size_t n = 0;
    if (main == STEP_NONE)
        return vp_no_memory();
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].track == main)
            m->v[n++] = m->v[i];
    m->n = n;
    return 0;
}

static int find_host_marks(step_search *s, const analysis *a)
{
    static const struct {
        mark_test *is_mark;
        vp_step_source source;
    } tries[] = {{is_program_mark, VP_STEPS_ANNOTATION},
                 {is_profiler_step, VP_STEPS_PROFILER},
                 {is_function_call, VP_STEPS_ANNOTATION}};
    if (a->h->steps_by) {
        VP_TRY(step_named_marks(&s->host, a));
        s->source = s->host.n ? VP_STEPS_NAMED : VP_STEPS_NONE;
        return s->host.n ? keep_one_at_a_time(s, a->t) : 0;
    }
    for (size_t i = 0; i < sizeof tries / sizeof *tries && !s->host.n; i++) {
        VP_TRY(gather_marks(&s->host, a, tries[i].is_mark));
        s->source = s->host.n ? tries[i].source : VP_STEPS_NONE;
        if (s->host.n && tries[i].is_mark == is_function_call)
            VP_TRY(keep_main_thread(&s->host, a->t));
    }
    return s->host.n ? keep_one_at_a_time(s, a->t) : step_annotation_marks(s, a);
}

/* ---- The profiler's marks, by device ---- */

/* The number in "5" or "train 5". */
static int64_t number_in(vp_str name)
{
    int64_t n;
    vp_str digits = vp_str_skip(name, vp_str_without_digits(name).n);
    return vp_str_to_i64(digits, &n) ? n : VP_UNKNOWN;
}

static bool has_lines(const step_search *s, const trace *t)
{
    for (uint32_t i = 0; i < t->track_count; i++)
        if (t->tracks[i].role == SINK_ROLE_STEPS && t->tracks[i].count &&
            s->device_of[t->tracks[i].process] != STEP_NONE)
            return true;
    return false;
}

static int find_line_marks(step_search *s, const analysis *a)
{
    const trace *t = a->t;
    for (uint32_t i = 0; i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        uint32_t d = s->device_of[k->process];
        for (size_t e = 0; k->role == SINK_ROLE_STEPS && d != STEP_NONE && e < k->count; e++) {
            step_mark mark = mark_of(t, i, e);
            if (mark.number == VP_UNKNOWN)
                mark.number = number_in(mark.name);
            VP_TRY(step_marks_add(&s->device[d], &mark));
        }
    }
    for (size_t d = 0; d < s->device_count; d++)
        step_marks_order(&s->device[d]);
    return 0;
}

static bool has_device_marks(const step_search *s)
{
    for (size_t d = 0; d < s->device_count; d++)
        if (s->device[d].n)
            return true;
    return false;
}

static int find_step_marks(step_search *s, const analysis *a)
{
    s->device = vp_calloc(a->device_count + 1, sizeof *s->device);
    s->device_of = vp_realloc_array(NULL, (size_t)a->t->process_count + 1, sizeof *s->device_of);
    VP_NEED(s->device && s->device_of);
    for (uint32_t p = 0; p < a->t->process_count; p++)
        s->device_of[p] = STEP_NONE;
    for (uint32_t d = 0; d < a->device_count; d++)
        s->device_of[a->devices[d].process] = d;
    if (has_lines(s, a->t) && !a->h->steps_by)
        s->source = VP_STEPS_LINE;
    else
        VP_TRY(find_host_marks(s, a));
    if (s->source != VP_STEPS_ANNOTATION &&
        s->source != VP_STEPS_NAMED) /* other types are not followed across threads */
        step_owner_forget(a);
    if (s->source == VP_STEPS_LINE)
        return find_line_marks(s, a);
    if (s->source != VP_STEPS_NONE || a->h->steps_by || !a->h->has_devices)
        return 0;
    VP_TRY(step_modules_marks(s, a));
    if (has_device_marks(s))
        s->source = VP_STEPS_MODULES;
    return 0;
}

int step_search_run(step_search *out, const analysis *a)
{
    *out = (step_search){.device_count = a->device_count};
    int rc = find_step_marks(out, a);
    if (rc < 0)
        step_search_free(out);
    return rc;
}
