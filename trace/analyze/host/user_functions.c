#include "trace/analyze/host/user_functions.h"

#include <stdlib.h>

#include "trace/analyze/host/host_kinds.h"
#include "trace/analyze/host/user_kinds.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/base/order.h"
#include "trace/links/replay.h"

/* The longest functions of a host; shorter ones than this part of the program are left out. */
#define FUNCTIONS_MAX 64u
#define LEAST_PART 200

typedef struct function_calls {
    uint32_t kind;
    int64_t total_ps, until_ps; /* until: the outermost call at hand ends there */
    size_t first, n;            /* of calls.span */
    bool launches_main;
    vp_user_function row;
} function_calls;

typedef struct functions {
    analysis *a;
    replay *r;
    const trace_track *k;
    function_calls *v; /* of the user's frames of the thread, in the order of their first calls */
    uint32_t n;
    uint32_t *of_kind; /* index in v; UINT32_MAX: no frame of the user */
    replay_span *span; /* outermost calls, function by function, by time */
} functions;

/* ---- Calls ---- */

static bool is_user_frame(const functions *f, uint32_t kind)
{
    return host_kind_flags(f->a->kinds, kind) & HK_USER;
}

/* A part of an event in the replayed time; false: none. */
static bool cut_to_replay(const functions *f, size_t e, replay_span *out)
{
    *out = (replay_span){trace_start(f->k, e), trace_end(f->k, e)};
    out->start_ps = out->start_ps > f->r->from_ps ? out->start_ps : f->r->from_ps;
    out->end_ps = out->end_ps < f->r->until_ps ? out->end_ps : f->r->until_ps;
    return out->end_ps > out->start_ps;
}

/* The function whose outermost call event e is; NULL: it is no such call. */
static function_calls *outermost_call(functions *f, size_t e, replay_span *span)
{
    uint32_t kind = trace_kind_of(f->k, e);
    if (f->of_kind[kind] == UINT32_MAX || !cut_to_replay(f, e, span))
        return NULL;
    function_calls *x = &f->v[f->of_kind[kind]];
    return span->start_ps >= x->until_ps ? x : NULL;
}

static int number_functions(functions *f)
{
    size_t cap = 0;
    for (uint32_t i = 0; i < f->a->t->kind_count; i++)
        f->of_kind[i] = UINT32_MAX;
    for (size_t e = 0; e < f->k->count; e++) {
        uint32_t kind = trace_kind_of(f->k, e);
        if (f->of_kind[kind] != UINT32_MAX || !is_user_frame(f, kind))
            continue;
        VP_TRY(vp_grow(&f->v, &cap, (size_t)f->n + 1, sizeof *f->v, VP_EVENTS_MAX));
        f->v[f->n] = (function_calls){.kind = kind, .until_ps = INT64_MIN};
        f->of_kind[kind] = f->n++;
    }
    return 0;
}

/* Counts the outermost calls of each function, or with a list of spans stores them. */
static void visit_calls(functions *f)
{
    replay_span span;
    for (uint32_t i = 0; i < f->n; i++)
        f->v[i].until_ps = INT64_MIN;
    for (size_t e = 0; e < f->k->count; e++) {
        function_calls *x = outermost_call(f, e, &span);
        if (!x)
            continue;
        x->until_ps = span.end_ps;
        if (f->span) {
            f->span[x->first + x->n++] = span;
            continue;
        }
        int64_t took = span.end_ps - span.start_ps;
        x->row.calls++;
        x->row.total_ps += took;
        if (took > x->row.max_ps) {
            x->row.max_ps = took;
            x->row.max_start_ps = span.start_ps;
        }
    }
}

static int collect_calls(functions *f)
{
    size_t sum = 0;
    visit_calls(f);
    for (uint32_t i = 0; i < f->n; i++) {
        f->v[i].first = sum;
        sum += (size_t)f->v[i].row.calls;
    }
    f->span = vp_realloc_array(NULL, sum + 1, sizeof *f->span);
    VP_NEED(f->span);
    visit_calls(f);
    return 0;
}

/* ---- What happens in the calls ---- */

static vp_sid module_of_run(const trace *t, const module_run *x)
{
    return t->kinds[trace_kind_of(&t->tracks[x->track], x->event)].module;
}

/* The module whose runs take longest. */
static int find_main_module(vp_sid *out, const functions *f)
{
    const run_launches *runs = f->r->runs;
    const trace *t = f->a->t;
    int64_t most = -1;
    VP_CLEANUP(vp_map_free) vp_map at = {0};
    VP_CLEANUP(vp_free_ptr) int64_t *sum = vp_calloc(runs->count + 1, sizeof *sum);
    VP_NEED(sum);
    for (size_t i = 0; i < runs->count; i++) {
        const module_run *x = &runs->run[i];
        vp_sid module = module_of_run(t, x);
        uint32_t slot = vp_map_get(&at, module);
        if (slot == VP_MAP_NONE) {
            slot = (uint32_t)i;
            VP_TRY(vp_map_set(&at, module, slot));
        }
        sum[slot] += x->end_ps - x->start_ps;
        if (sum[slot] > most) {
            most = sum[slot];
            *out = module;
        }
    }
    return 0;
}

/* Moves to the span that ends after a time; times come in order. */
static bool is_inside(const functions *f, const function_calls *x, size_t *near, int64_t at)
{
    while (*near < x->n && f->span[x->first + *near].end_ps <= at)
        ++*near;
    return *near < x->n && f->span[x->first + *near].start_ps <= at;
}

static void count_launches(functions *f, function_calls *x, vp_sid main)
{
    const trace *t = f->a->t;
    size_t near = 0;
    for (size_t i = 0; i < f->r->count; i++) {
        const replay_item *item = &f->r->item[i];
        if (item->action != REPLAY_LAUNCH || !is_inside(f, x, &near, item->at_ps))
            continue;
        const module_run *run = &f->r->runs->run[item->run];
        x->row.launches++;
        x->row.run_ps += run->end_ps - run->start_ps;
        x->launches_main |= module_of_run(t, run) == main;
    }
}

/* A Python call that returns a result to the program. Others wait inside the runtime. */
static bool is_read(const functions *f, uint32_t kind)
{
    uint32_t flags = host_kind_flags(f->a->kinds, kind);
    return (flags & HK_PYTHON) && (flags & HK_BLOCKING);
}

static void count_reads(functions *f, function_calls *x)
{
    size_t near = 0;
    int64_t until = INT64_MIN;
    for (size_t e = 0; e < f->k->count; e++) {
        int64_t start = trace_start(f->k, e);
        if (start < until || !is_read(f, trace_kind_of(f->k, e)))
            continue;
        until = start + trace_dur(f->k, e);
        x->row.reads += is_inside(f, x, &near, start);
    }
}

/* The user's function with most of the time of waits, innermost at each. */
static int find_waiter(functions *f, vp_replay *out)
{
    user_stack open = {0};
    VP_CLEANUP(vp_free_ptr) int64_t *ps = vp_calloc((size_t)f->n + 1, sizeof *ps);
    int rc = ps ? 0 : vp_no_memory();
    uint32_t best = UINT32_MAX;
    size_t e = 0;
    for (size_t i = 0; rc >= 0 && i < f->r->count; i++) {
        const replay_item *x = &f->r->item[i];
        if (x->action != REPLAY_WAIT || x->at_ps < f->r->from_ps || x->at_ps >= f->r->until_ps)
            continue;
        for (; rc >= 0 && e < f->k->count && trace_start(f->k, e) <= x->at_ps; e++) {
            user_stack_close(&open, trace_start(f->k, e));
            if (is_user_frame(f, trace_kind_of(f->k, e)))
                rc = user_stack_open(&open, trace_kind_of(f->k, e), trace_end(f->k, e));
        }
        user_stack_close(&open, x->at_ps);
        uint32_t kind = user_stack_top(&open);
        out->waits++;
        if (kind == UINT32_MAX)
            continue;
        ps[f->of_kind[kind]] += x->resumes_ps - x->at_ps;
        if (best == UINT32_MAX || ps[f->of_kind[kind]] > ps[f->of_kind[best]])
            best = kind;
    }
    vp_free(open.v);
    return rc < 0 ? rc : user_frame_text(&out->waiter, f->a->h, f->a->t, best);
}

/* ---- Rows ---- */

static int longest_first(const void *a, const void *b)
{
    const function_calls *x = a, *y = b;
    return x->row.total_ps != y->row.total_ps ? vp_order(y->row.total_ps, x->row.total_ps)
                                              : vp_order((int64_t)x->kind, (int64_t)y->kind);
}

static int add_function(functions *f, function_calls *x)
{
    host_result *h = f->a->h;
    x->row.max_start_ps -= h->origin_ps;
    x->row.without_ps = replay_time(f->r, &f->span[x->first], x->n, true);
    VP_TRY(user_frame_text(&x->row.name, h, f->a->t, x->kind));
    VP_TRY(vp_grow(&h->user_functions, &h->user_function_cap, h->user_function_count + 1,
                   sizeof x->row, FUNCTIONS_MAX));
    h->user_functions[h->user_function_count++] = x->row;
    return 0;
}

static int add_functions(functions *f)
{
    int64_t least = (f->r->until_ps - f->r->from_ps) / LEAST_PART;
    vp_sid main = 0;
    size_t added = 0;
    VP_TRY(find_main_module(&main, f));
    VP_TRY(collect_calls(f));
    if (f->n)
        qsort(f->v, f->n, sizeof *f->v, longest_first);
    for (uint32_t i = 0; i < f->n && added < FUNCTIONS_MAX && f->v[i].row.total_ps >= least; i++) {
        count_launches(f, &f->v[i], main);
        if (f->v[i].launches_main)
            continue;
        count_reads(f, &f->v[i]);
        VP_TRY(add_function(f, &f->v[i]));
        added++;
    }
    return 0;
}

static int add_replay(functions *f)
{
    host_result *h = f->a->h;
    vp_replay row = {.replayed_ps = replay_time(f->r, NULL, 0, true),
                     .unwaited_ps = replay_time(f->r, NULL, 0, false),
                     .recorded_ps = f->r->recorded_ps};
    VP_TRY(thread_text(&row.thread, h, f->a->t, f->r->track));
    VP_TRY(find_waiter(f, &row));
    VP_TRY(vp_grow(&h->replays, &h->replay_cap, h->replay_count + 1, sizeof row, VP_TRACKS_MAX));
    h->replays[h->replay_count++] = row;
    return 0;
}

static int replay_functions(functions *f)
{
    f->k = &f->a->t->tracks[f->r->track];
    f->of_kind = vp_realloc_array(NULL, (size_t)f->a->t->kind_count + 1, sizeof *f->of_kind);
    VP_NEED(f->of_kind);
    VP_TRY(number_functions(f));
    VP_TRY(add_replay(f));
    return add_functions(f);
}

/* ---- What is replayed ---- */

/* From the first to the last step that the host marks. False: none. */
static bool marked_time(const analysis *a, int64_t *from, int64_t *until)
{
    *from = INT64_MAX;
    *until = INT64_MIN;
    for (size_t i = 0; a->marked_start_ps && i < a->h->steps.count; i++) {
        if (a->marked_start_ps[i] > a->marked_end_ps[i])
            continue;
        *from = a->marked_start_ps[i] < *from ? a->marked_start_ps[i] : *from;
        *until = a->marked_end_ps[i] > *until ? a->marked_end_ps[i] : *until;
    }
    return *from < *until;
}

/* Without steps: from the first launch to the last. */
static bool launched_time(const analysis *a, int64_t *from, int64_t *until)
{
    *from = INT64_MAX;
    *until = INT64_MIN;
    for (size_t i = 0; i < a->runs->count; i++) {
        const module_run *x = &a->runs->run[i];
        if (x->launch_track == TRACE_NO_TRACK)
            continue;
        const trace_track *k = &a->t->tracks[x->launch_track];
        int64_t start = trace_start(k, x->launch_event), end = trace_end(k, x->launch_event);
        *from = start < *from ? start : *from;
        *until = end > *until ? end : *until;
    }
    return *from < *until;
}

/* Waits for devices. On CPU devices np.asarray is a copy, too, but it waits first. */
static uint8_t *find_wait_kinds(const analysis *a)
{
    uint8_t *is_wait = vp_calloc((size_t)a->t->kind_count + 1, 1);
    for (uint32_t i = 0; is_wait && i < a->t->kind_count; i++)
        is_wait[i] = !a->t->kinds[i].is_op && ((host_kind_flags(a->kinds, i) & HK_BLOCKING) ||
                                               vp_str_eq(trace_str(a->t, a->t->kinds[i].name),
                                                         VP_STR("np.asarray(jax.Array)")));
    return is_wait;
}

int user_functions_collect(analysis *a)
{
    functions f = {.a = a};
    int64_t from, until;
    if (!a->runs->count || (!marked_time(a, &from, &until) && !launched_time(a, &from, &until)))
        return 0;
    VP_CLEANUP(vp_free_ptr) uint8_t *is_wait = find_wait_kinds(a);
    VP_NEED(is_wait);
    int rc = replay_new(&f.r, a->t, a->runs, is_wait, from, until);
    if (rc >= 0 && f.r)
        rc = replay_functions(&f);
    replay_free(f.r);
    vp_free(f.v);
    vp_free(f.of_kind);
    vp_free(f.span);
    return rc;
}
