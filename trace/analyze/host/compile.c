#include "trace/analyze/host/compile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/analyze/host/compile_changes.h"
#include "trace/analyze/host/compile_roots.h"
#include "trace/analyze/host/first_run.h"
#include "trace/analyze/host/host_kinds.h"
#include "trace/analyze/host/user_kinds.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* All compiled functions are listed, and this many of the others: those called most. */
#define CALLED_MAX 100u

static int64_t known_if_cache_read(int64_t reads, int64_t misses, int64_t value)
{
    return reads + misses > 0 ? value : VP_UNKNOWN;
}

static int64_t hits_if_cache_read(int64_t reads, int64_t misses)
{
    return known_if_cache_read(reads, misses, reads > misses ? reads - misses : 0);
}

/* Adds a compile of a function; all but its first are repeats
 * (docs/reference/metrics.md#compilation). began: when execution had begun. */
static void add_root(vp_function *f, const compile_root *r, int64_t origin, bool late,
                     int64_t began)
{
    int64_t dur = r->end - r->start;
    if (f->compiles || late)
        f->prepare_ps += r->prepare;
    if (!f->compiles) {
        f->ready_ps = !late ? r->end - origin : began <= r->start ? began - origin : 0;
        f->first_start_ps = r->start - origin;
        f->first_dur_ps = dur;
    } else {
        f->repeat_ps += dur;
    }
    f->last_start_ps = r->start - origin;
    f->last_dur_ps = dur;
    f->compiles++;
    f->total_ps += dur;
    f->late += late;
    f->late_ps += late ? dur : 0;
}

static void add_total(vp_compile *c, const compile_root *r, bool early, bool late)
{
    int64_t dur = r->end - r->start;
    c->count++;
    c->total_ps += dur;
    c->late += late;
    c->late_ps += late ? dur : 0;
    c->before_steps_ps += early ? dur : 0;
}

/* "f" in "PjitFunction(f)"; the whole name if it has another form. */
static vp_str function_name(vp_str call)
{
    size_t open = vp_str_find(call, VP_STR("("));
    vp_str name = vp_str_skip(call, open + 1);
    return name.n > 1 && name.p[name.n - 1] == ')' ? vp_str_head(name, name.n - 1) : call;
}

/* "frame 0 (0/0…0/4)" */
static int name_frame(const char **out, host_result *h, const compile_function *f)
{
    char text[96];
    int n = f->last > f->first
                ? snprintf(text, sizeof text,
                           "frame %" PRId64 " (%" PRId64 "/%" PRId64 "…%" PRId64 "/%" PRId64 ")",
                           f->frame, f->frame, f->first, f->frame, f->last)
                : snprintf(text, sizeof text, "frame %" PRId64, f->frame);
    return n > 0 ? host_text(out, h, (vp_str){text, (size_t)n}) : 0;
}

static int name_functions(vp_function *out, host_result *h, const trace *t, const compile_roots *r)
{
    for (size_t i = 0; i < r->function_count; i++) {
        const compile_function *f = &r->functions[i];
        out[i] = (vp_function){.calls = f->calls,
                               .cache_hits = hits_if_cache_read(f->reads, f->misses),
                               .first_start_ps = VP_NO_TIME,
                               .last_start_ps = VP_NO_TIME,
                               .ready_ps = VP_NO_TIME};
        if (f->frame < 0)
            VP_TRY(host_text(&out[i].name, h, function_name(trace_str(t, f->name))));
        else
            VP_TRY(name_frame(&out[i].name, h, f));
    }
    return 0;
}

/* Frames of the user's program that explain compilations. */
typedef struct frame_walk {
    const compile_roots *roots;
    const analysis *a;
    uint32_t *caller; /* by function: the user's frame around its last compile */
    uint32_t *own;    /* by function of torch.compile: the frame that its region runs */
    uint32_t *region; /* by kind: the function that it is a region of */
    uint8_t *walked;  /* by track */
} frame_walk;

/* The user's frames on one thread, whose first root is `at`. */
static int walk_frames(frame_walk *w, user_stack *s, size_t at)
{
    const compile_roots *r = w->roots;
    const trace *t = w->a->t;
    uint32_t track = r->v[at].track, in = NO_FUNCTION;
    const trace_track *k = &t->tracks[track];
    int64_t until = INT64_MIN;
    int rc = 0;
    s->n = 0;
    for (size_t e = 0; rc >= 0 && e < k->count; e++) {
        uint32_t kind = trace_kind_of(k, e);
        int64_t start = trace_start(k, e);
        for (; at < r->n && (r->v[at].track != track || r->v[at].start <= start); at++) {
            if (r->v[at].track != track || r->v[at].function == NO_FUNCTION)
                continue;
            user_stack_close(s, r->v[at].start);
            if (s->n)
                w->caller[r->v[at].function] = user_stack_top(s);
        }
        user_stack_close(s, start);
        if (w->region[kind] != NO_FUNCTION) {
            in = w->region[kind];
            until = start + trace_dur(k, e);
        }
        if (!(host_kind_flags(w->a->kinds, kind) & HK_USER))
            continue;
        if (in != NO_FUNCTION && start < until && w->own[in] == UINT32_MAX)
            w->own[in] = kind;
        in = NO_FUNCTION;
        rc = user_stack_open(s, kind, start + trace_dur(k, e));
    }
    return rc;
}

/* Only threads that compile are walked. */
static int find_frames(frame_walk *w)
{
    const trace *t = w->a->t;
    user_stack s = {0};
    VP_TRY(compile_roots_regions(&w->region, w->roots, t, w->a->kinds));
    int rc = 0;
    for (size_t first = 0; rc >= 0 && first < w->roots->n; first++) {
        uint32_t track = w->roots->v[first].track;
        if (!w->walked[track])
            rc = walk_frames(w, &s, first);
        w->walked[track] = 1;
    }
    vp_free(s.v);
    return rc;
}

/* "frame 0 (0/0…0/4): encode (train.py:12)" */
static int name_by_frame(vp_function *f, host_result *h, const trace *t, uint32_t kind)
{
    const char *function = NULL;
    VP_TRY(user_frame_text(&function, h, t, kind));
    if (!function)
        return 0;
    vp_buf text;
    vp_buf_init(&text, SIZE_MAX / 8);
    vp_buf_printf(&text, "%s: %s", f->name, function);
    int rc = text.status < 0 ? text.status : host_text(&f->name, h, vp_buf_view(&text));
    vp_buf_free(&text);
    return rc;
}

/* Says who calls functions that are compiled again, what torch.compile compiles, and what changes
 * between variants. */
static int explain_functions(vp_function *v, analysis *a, const compile_roots *r)
{
    size_t n = r->function_count;
    VP_CLEANUP(vp_free_ptr) uint32_t *frames = vp_calloc(2 * n + 1, sizeof *frames);
    VP_CLEANUP(vp_free_ptr) uint8_t *walked = vp_calloc((size_t)a->t->track_count + 1, 1);
    VP_NEED(frames && walked);
    frame_walk w = {.roots = r, .a = a, .caller = frames, .own = frames + n, .walked = walked};
    for (size_t i = 0; i < 2 * n; i++)
        frames[i] = UINT32_MAX;
    int rc = find_frames(&w);
    vp_free(w.region);
    VP_TRY(rc);
    for (size_t i = 0; i < n; i++) {
        VP_TRY(user_frame_text(&v[i].caller, a->h, a->t, w.caller[i]));
        if (r->functions[i].frame >= 0)
            VP_TRY(name_by_frame(&v[i], a->h, a->t, w.own[i]));
        else if (v[i].compiles >= 2 && v[i].name)
            VP_TRY(compile_changes_find(&v[i].changes, a, vp_str_of(v[i].name)));
    }
    return 0;
}

static int by_compile_time(const void *a, const void *b)
{
    const vp_function *x = a, *y = b;
    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    if (x->compiles != y->compiles)
        return x->compiles > y->compiles ? -1 : 1;
    if (x->calls != y->calls)
        return x->calls > y->calls ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int emit_functions(host_result *h, vp_function *v, size_t n)
{
    size_t called = 0;
    vp_compile *c = &h->compile;
    qsort(v, n, sizeof *v, by_compile_time);
    for (size_t i = 0; i < n; i++) {
        if (!v[i].compiles && ++called > CALLED_MAX)
            continue;
        VP_TRY(vp_grow(&c->functions, &h->function_cap, c->function_count + 1, sizeof *c->functions,
                       SIZE_MAX / 1024));
        c->functions[c->function_count++] = v[i];
    }
    return 0;
}

/* A frame of torch.compile that is compiled again has run, in the capture or before it, whatever
 * modules and steps say. */
static bool is_recompile(const compile_root *x)
{
    return x->recompile > 0 && x->function != NO_FUNCTION;
}

static int emit_compile_figures(analysis *a, const compile_roots *r)
{
    host_result *h = a->h;
    first_run began = {INT64_MAX, INT64_MAX};
    VP_CLEANUP(vp_free_ptr) vp_function *v = vp_calloc(r->function_count + 1, sizeof *v);
    VP_NEED(v);
    if (r->n)
        VP_TRY(first_run_find(&began, a));
    VP_TRY(name_functions(v, h, a->t, r));
    for (size_t i = 0; i < r->n; i++) {
        const compile_root *x = &r->v[i];
        bool early = x->start < began.prepared, late = !early && x->start >= began.over;
        if (is_recompile(x)) {
            early = false;
            late = true;
        }
        if (x->function != NO_FUNCTION)
            add_root(&v[x->function], x, h->origin_ps, late, began.over);
        add_total(&h->compile, x, early, late);
    }
    if (r->n)
        VP_TRY(explain_functions(v, a, r));
    h->compile.lower_ps = r->lower_ps;
    h->compile.cache_hits = hits_if_cache_read(r->reads, r->misses);
    h->compile.cache_misses = known_if_cache_read(r->reads, r->misses, r->misses);
    return emit_functions(h, v, r->function_count);
}

int compile_collect(analysis *a)
{
    compile_roots r = {0};
    int rc = compile_roots_find(&r, a->t, a->kinds);
    if (rc >= 0)
        rc = emit_compile_figures(a, &r);
    compile_roots_free(&r);
    return rc;
}
