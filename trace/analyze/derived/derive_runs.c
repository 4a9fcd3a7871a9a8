/* Adjacent ops on a stream as one slice: ops of one module, of one source line, or of one framework
 * scope including nested scopes. A stream's self time is processed in order, so slices nest. Time
 * between two ops of a slice belongs to it: its ends are those of work, and busy_ps is the amount
 * of work. A new step, or an op that belongs elsewhere, ends it. */
#include "trace/analyze/derived/derive.h"
#include "trace/analyze/device/scopes.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

/* Deeper components of a path are merged into one slice, because viewers cannot show more. */
#define DEPTH_MAX 64u

typedef struct run {
    vp_str name; /* a component */
    size_t slice;
    int64_t busy_ps;
} run;

typedef struct walk {
    derived *out;
    const trace *t;
    const trace_track *track;
    const step_windows *windows; /* NULL without steps */
    size_t window;               /* the first that begins after `end` */
    derived_kind kind;
    vp_sid path, module; /* of the open slices */
    int64_t run_id;
    int64_t end; /* of the last op's time */
    run open[DEPTH_MAX];
    uint32_t depth;
} walk;

static void close_down_to(walk *w, uint32_t depth)
{
    while (w->depth > depth) {
        const run *r = &w->open[--w->depth];
        if (r->slice == SIZE_MAX)
            continue;
        w->out->slices[r->slice].end_ps = w->end;
        w->out->slices[r->slice].number[0] = r->busy_ps;
    }
}

static int walk_open_run(walk *w, int64_t start, vp_str name, vp_str path, int64_t program)
{
    derived_slice s = {.start_ps = start, .end_ps = start, .number = {0, program}};
    run *r = &w->open[w->depth];
    VP_TRY(derived_name(w->out, &s.name, name));
    if (w->kind == DERIVED_SCOPES)
        VP_TRY(derived_name(w->out, &s.text[0], path));
    *r = (run){.name = name};
    VP_TRY(derived_add(w->out, &s, &r->slice));
    w->depth++;
    return 0;
}

/* Closes the slices that are not on the path, and opens the rest of it. */
static int go_to_path(walk *w, int64_t start, vp_str path)
{
    size_t at = 0;
    uint32_t depth = 0;
    while (at < path.n && depth < DEPTH_MAX) {
        size_t end = depth + 1 < DEPTH_MAX ? scope_component_end(path, at) : path.n;
        vp_str name = {path.p + at, end - at};
        if (depth == w->depth || !vp_str_eq(w->open[depth].name, name)) {
            close_down_to(w, depth);
            VP_TRY(walk_open_run(w, start, name, vp_str_head(path, end), VP_UNKNOWN));
        }
        depth++;
        at = end < path.n ? end + 1 : end;
    }
    close_down_to(w, depth);
    return 0;
}

static int open_module(walk *w, int64_t start, const trace_kind *k)
{
    int64_t program = k->program_id;
    vp_str name = trace_module_name(trace_str(w->t, k->module), &program);
    return walk_open_run(w, start, name, VP_STR_NONE, program >= 0 ? program : VP_UNKNOWN);
}

/* The text of the slices that contain the op; 0: none. */
static vp_sid op_path_of(const walk *w, const trace_kind *k)
{
    return w->kind == DERIVED_MODULES  ? k->module
           : w->kind == DERIVED_SOURCE ? k->source
                                       : k->scope;
}

/* True if a step began since the last op. */
static bool new_step(walk *w, int64_t start)
{
    const step_windows *s = w->windows;
    size_t before = w->window;
    while (s && w->window < s->count && s->start_ps[w->window] <= start)
        w->window++;
    return w->window != before;
}

/* Closes the slices that do not contain an op of kind k, and opens the others. */
static int turn_to(walk *w, int64_t start, const trace_kind *k)
{
    vp_str path = trace_str(w->t, op_path_of(w, k));
    if (w->kind == DERIVED_SCOPES)
        return go_to_path(w, start, path);
    close_down_to(w, 0);
    if (!path.n)
        return 0;
    return w->kind == DERIVED_MODULES ? open_module(w, start, k)
                                      : walk_open_run(w, start, path, VP_STR_NONE, VP_UNKNOWN);
}

static int on_time(void *ctx, size_t event, int64_t start, int64_t end)
{
    walk *w = ctx;
    const trace_kind *k = &w->t->kinds[trace_kind_of(w->track, event)];
    int64_t run_id = trace_attr(w->track, SINK_RUN, event);
    bool apart = new_step(w, start) || k->module != w->module || run_id != w->run_id;
    if (apart)
        close_down_to(w, 0);
    if (apart || op_path_of(w, k) != w->path)
        VP_TRY(turn_to(w, start, k));
    for (uint32_t i = 0; i < w->depth; i++)
        w->open[i].busy_ps += end - start;
    w->path = op_path_of(w, k);
    w->module = k->module;
    w->run_id = run_id;
    w->end = end;
    return 0;
}

static int derive_runs_of_track(const derive_device *x, derived_kind kind, const trace_track *track,
                                bool alone)
{
    const analysis *a = x->a;
    walk w = {.out = x->out, .t = a->t, .track = track, .kind = kind};
    w.windows = a->windows && a->h->has_devices ? &a->windows[x->device] : NULL;
    VP_TRY(derived_add_track(x->out, kind, alone ? VP_STR_NONE : trace_str(a->t, track->name)));
    VP_TRY(self_pieces(track, NULL, on_time, &w));
    close_down_to(&w, 0);
    return derived_end_track(x->out);
}

static bool runs_say(const analysis *a, const trace_track *track, derived_kind kind)
{
    walk w = {.kind = kind};
    for (size_t i = 0; i < track->count; i++)
        if (op_path_of(&w, &a->t->kinds[trace_kind_of(track, i)]))
            return true;
    return false;
}

static int all_tracks(const derive_device *x, derived_kind kind)
{
    const track_set *set = &x->a->devices[x->device].set;
    size_t with = 0;
    for (size_t i = 0; i < set->count; i++)
        with += runs_say(x->a, &x->a->t->tracks[set->tracks[i]], kind);
    for (size_t i = 0; i < set->count; i++) {
        const trace_track *track = &x->a->t->tracks[set->tracks[i]];
        if (runs_say(x->a, track, kind))
            VP_TRY(derive_runs_of_track(x, kind, track, with == 1));
    }
    return 0;
}

int derive_modules(const derive_device *x)
{
    return all_tracks(x, DERIVED_MODULES);
}

int derive_scopes(const derive_device *x)
{
    return all_tracks(x, DERIVED_SCOPES);
}

int derive_sources(const derive_device *x)
{
    return all_tracks(x, DERIVED_SOURCE);
}
