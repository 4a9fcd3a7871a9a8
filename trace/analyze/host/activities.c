#include "trace/analyze/host/activities.h"

#include <stdlib.h>

#include "trace/analyze/device/any_device.h"
#include "trace/analyze/device/sweep.h"
#include "trace/analyze/host/host_kinds.h"
#include "trace/analyze/host/threads.h"
#include "trace/analyze/host/user_kinds.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

#define ACTIVITIES_MAX 256u
#define NO_KIND UINT32_MAX

/* An iterator's next that is shorter, and not named as input, is part of other work. */
#define PULL_LEAST_PS (INT64_C(100) * 1000000)

/* Work that a training step does. A pull that contains some of it is the training loop itself. */
#define HK_TRAINS (HK_CALL | HK_EXECUTE | HK_LAUNCH | HK_STEP)

/* By kind of the trace. */
typedef enum role {
    ROLE_FRAME = 1 << 0, /* a Python frame of the user's program */
    ROLE_WAIT = 1 << 1,
    ROLE_TRAINS = 1 << 2,
    ROLE_STEP_OP = 1 << 3, /* an op of the step that takes a batch, on whatever thread */
    ROLE_WAIT_KNOWN = 1 << 4,
} role;

typedef struct walk {
    analysis *a;
    const trace_track *k;
    const spans *idle; /* NULL: the program has no devices */
    size_t idle_near, step_near, next_training;
    uint8_t *roles;
    user_stack frames;
    vp_activity row[VP_ACTIVITY_KINDS];
    uint32_t name[VP_ACTIVITY_KINDS], outer[VP_ACTIVITY_KINDS], inner[VP_ACTIVITY_KINDS];
    size_t last_step[VP_ACTIVITY_KINDS];
    /* The activity at hand. */
    vp_activity_kind at;
    bool pulls;       /* only known as a pull so far */
    bool frame_named; /* by a frame: what the framework says of it is a better name */
    bool is_longest;  /* of its kind on this thread */
    int64_t until, wait_until, context_until;
} walk;

/* ---- Kinds ---- */

/* What the names of PyTorch say of training: the backward pass, optimizers. Modules may transform
 * data, too. */
static bool is_torch_training(vp_str name)
{
    return vp_str_starts(name, VP_STR("autograd::engine::")) ||
           vp_str_starts(name, VP_STR("Optimizer.step#"));
}

static void find_roles(walk *w)
{
    const trace *t = w->a->t;
    for (uint32_t i = 0; i < t->kind_count; i++) {
        vp_str name = trace_str(t, t->kinds[i].name);
        uint32_t flags = host_kind_flags(w->a->kinds, i);
        if (t->kinds[i].is_op) /* has none of these roles */
            continue;
        bool trains = (flags & HK_TRAINS) || is_torch_training(name);
        bool step_op = vp_str_starts(name, VP_STR("IteratorGetNext")) ||
                       vp_str_starts(name, VP_STR("MultiDeviceIteratorGetNext"));
        w->roles[i] = (uint8_t)((flags & HK_USER ? ROLE_FRAME : 0) | (trains ? ROLE_TRAINS : 0) |
                                (step_op ? ROLE_STEP_OP : 0));
    }
}

/* Few kinds are asked for, so that only their names are looked at. */
static bool is_wait(walk *w, uint32_t kind)
{
    const trace_kind *k = &w->a->t->kinds[kind];
    uint8_t *roles = &w->roles[kind];
    if (!(*roles & ROLE_WAIT_KNOWN)) {
        bool waits = !k->is_op &&
                     ((host_kind_flags(w->a->kinds, kind) & HK_BLOCKING) ||
                      wait_kind_of(trace_str(w->a->t, k->name), trace_str(w->a->t, k->category)));
        *roles |= (uint8_t)(ROLE_WAIT_KNOWN | (waits ? ROLE_WAIT : 0));
    }
    return *roles & ROLE_WAIT;
}

/* ---- One thread ---- */

/* Whether the program trains within event i. Each event is looked at once, since events come by
 * start. */
static bool contains_training(walk *w, size_t i, int64_t end)
{
    if (w->next_training <= i)
        w->next_training = i + 1;
    while (w->next_training < w->k->count &&
           !(w->roles[trace_kind_of(w->k, w->next_training)] & ROLE_TRAINS))
        w->next_training++;
    return w->next_training < w->k->count && trace_start(w->k, w->next_training) < end;
}

/* The activity that an event begins; VP_ACTIVITY_KINDS: none. */
static vp_activity_kind activity_of(walk *w, size_t i, int64_t start, int64_t end)
{
    uint32_t flags = host_kind_flags(w->a->kinds, trace_kind_of(w->k, i));
    if (flags & HK_COMPILE)
        return VP_ACTIVITY_COMPILE;
    if (flags & HK_CALLBACK)
        return w->idle ? VP_ACTIVITY_CALLBACK : VP_ACTIVITY_KINDS;
    if (flags & HK_GC)
        return VP_ACTIVITY_GC;
    if (flags & HK_WRITE)
        return VP_ACTIVITY_WRITE;
    if ((flags & HK_INPUT) && ((flags & HK_PYTHON) || !contains_training(w, i, end)))
        return VP_ACTIVITY_INPUT;
    if ((flags & HK_PULL) && start >= w->context_until && end - start >= PULL_LEAST_PS &&
        !contains_training(w, i, end))
        return VP_ACTIVITY_INPUT;
    return VP_ACTIVITY_KINDS;
}

/* Counts the steps that hold an activity, each once. Steps come by time. */
static void count_step(walk *w, vp_activity_kind what, int64_t start)
{
    const analysis *a = w->a;
    const vp_steps *s = &a->h->steps;
    if (!a->marked_start_ps)
        return;
    while (w->step_near < s->count && a->marked_end_ps[w->step_near] <= start)
        w->step_near++;
    if (w->step_near == s->count || a->marked_start_ps[w->step_near] > start ||
        w->last_step[what] == w->step_near + 1)
        return;
    w->last_step[what] = w->step_near + 1;
    w->row[what].steps++;
}

static void begin_activity(walk *w, vp_activity_kind what, size_t i, int64_t start, int64_t end)
{
    vp_activity *row = &w->row[what];
    uint32_t kind = trace_kind_of(w->k, i), flags = host_kind_flags(w->a->kinds, kind);
    row->calls++;
    row->total_ps += end - start;
    row->idle_ps += w->idle ? spans_cut(w->idle, start, end, &w->idle_near) : 0;
    count_step(w, what, start);
    w->at = what;
    w->until = end;
    w->wait_until = start;
    w->pulls = what == VP_ACTIVITY_INPUT && !(flags & HK_INPUT);
    w->frame_named = flags & HK_PYTHON;
    w->is_longest = end - start > row->max_ps;
    if (!w->is_longest)
        return;
    row->max_ps = end - start;
    row->max_start_ps = start;
    w->name[what] = kind;
    w->outer[what] = user_stack_top(&w->frames);
    w->inner[what] = w->roles[kind] & ROLE_FRAME ? kind : NO_KIND;
}

/* An event inside the activity at hand: it may wait, or be a better name. */
static void refine_activity(walk *w, uint32_t kind, int64_t start, int64_t end)
{
    if (start >= w->wait_until && is_wait(w, kind)) {
        int64_t to = end < w->until ? end : w->until;
        w->row[w->at].wait_ps += to - start;
        w->wait_until = to;
    }
    uint32_t flags = host_kind_flags(w->a->kinds, kind);
    if (w->at == VP_ACTIVITY_INPUT && w->frame_named && (flags & HK_INPUT) &&
        (w->pulls || !(flags & HK_PYTHON))) {
        w->pulls = false;
        w->frame_named = flags & HK_PYTHON;
        if (w->is_longest)
            w->name[w->at] = kind;
    }
    if (w->is_longest && w->inner[w->at] == NO_KIND && (w->roles[kind] & ROLE_FRAME))
        w->inner[w->at] = kind;
}

static int walk_event(walk *w, size_t i, bool training)
{
    int64_t start = trace_start(w->k, i), end = start + trace_dur(w->k, i);
    uint32_t kind = trace_kind_of(w->k, i);
    if (start < w->until) {
        refine_activity(w, kind, start, end);
        return 0;
    }
    user_stack_close(&w->frames, start);
    uint32_t flags = host_kind_flags(w->a->kinds, kind);
    if (flags & HK_CONTEXT && end > w->context_until)
        w->context_until = end;
    if (end > start && (training || (w->roles[kind] & ROLE_STEP_OP) || (flags & HK_CALLBACK))) {
        vp_activity_kind what = activity_of(w, i, start, end);
        if (what != VP_ACTIVITY_KINDS) {
            begin_activity(w, what, i, start, end);
            return 0;
        }
    }
    return w->roles[kind] & ROLE_FRAME ? user_stack_open(&w->frames, kind, end) : 0;
}

static int emit_activity(walk *w, uint32_t device, uint32_t track, vp_activity_kind what)
{
    host_result *h = w->a->h;
    const trace *t = w->a->t;
    vp_activity *row = &w->row[what];
    if (!row->calls)
        return 0;
    row->device = device;
    row->kind = what;
    row->idle_ps = w->idle ? row->idle_ps : VP_UNKNOWN;
    row->max_start_ps -= h->origin_ps;
    VP_TRY(host_text(&row->name, h, trace_str(t, t->kinds[w->name[what]].name)));
    VP_TRY(thread_text(&row->thread, h, t, track));
    VP_TRY(user_frame_text(&row->caller, h, t, w->outer[what]));
    VP_TRY(user_frame_text(&row->callee, h, t, w->inner[what]));
    VP_TRY(vp_grow(&h->activities, &h->activity_cap, h->activity_count + 1, sizeof *row,
                   VP_TRACKS_MAX));
    h->activities[h->activity_count++] = *row;
    return 0;
}

static int walk_track(walk *w, uint32_t device, uint32_t track, bool training)
{
    w->k = &w->a->t->tracks[track];
    if (w->k->role != SINK_ROLE_PLAIN || w->k->spans)
        return 0;
    w->frames.n = w->idle_near = w->step_near = w->next_training = 0;
    w->until = w->context_until = INT64_MIN;
    for (int i = 0; i < VP_ACTIVITY_KINDS; i++) {
        w->row[i] = (vp_activity){0};
        w->last_step[i] = 0;
    }
    for (size_t i = 0; i < w->k->count; i++)
        VP_TRY(walk_event(w, i, training));
    for (int i = 0; i < VP_ACTIVITY_KINDS; i++)
        VP_TRY(emit_activity(w, device, track, (vp_activity_kind)i));
    return 0;
}

/* ---- All threads ---- */

/* By track: how many steps it marks. Without steps: the time that its events cover. */
static int64_t *training_scores(const analysis *a)
{
    const trace *t = a->t;
    int64_t *score = vp_calloc((size_t)t->track_count + 1, sizeof *score);
    bool any = false;
    for (size_t i = 0; score && a->marked_track && i < a->h->steps.count; i++)
        if (a->marked_track[i] < t->track_count) {
            score[a->marked_track[i]]++;
            any = true;
        }
    for (uint32_t i = 0; score && !any && i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        int64_t until = INT64_MIN;
        for (size_t e = 0; k->role == SINK_ROLE_PLAIN && !k->spans && e < k->count; e++) {
            int64_t start = trace_start(k, e), end = start + trace_dur(k, e);
            start = start > until ? start : until;
            score[i] += end > start ? end - start : 0;
            until = end > until ? end : until;
        }
    }
    return score;
}

/* The thread of a process that trains; TRACE_NO_TRACK: none. */
static uint32_t training_thread(const trace *t, uint32_t process, const int64_t *score)
{
    uint32_t best = TRACE_NO_TRACK;
    TRACE_EACH_OF(t, process, i)
    if (score[i] > 0 && (best == TRACE_NO_TRACK || score[i] > score[best]))
        best = i;
    return best;
}

static uint32_t device_of_process(const analysis *a, uint32_t process)
{
    for (size_t d = 0; !a->h->has_devices && d < a->device_count; d++)
        if (a->devices[d].process == process)
            return (uint32_t)d;
    return VP_NO_DEVICE;
}

static int by_activity_time(const void *a, const void *b)
{
    const vp_activity *x = a, *y = b;
    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    return (x > y) - (x < y);
}

static int walk_all(walk *w)
{
    analysis *a = w->a;
    host_result *h = a->h;
    VP_CLEANUP(vp_free_ptr) int64_t *score = training_scores(a);
    w->roles = vp_calloc((size_t)a->t->kind_count + 1, sizeof *w->roles);
    VP_NEED(score && w->roles);
    if (h->has_devices)
        VP_TRY(any_device_idle(&w->idle, a));
    find_roles(w);
    for (uint32_t p = 0; p < a->t->process_count; p++) {
        uint32_t device = device_of_process(a, p), training = training_thread(a->t, p, score);
        TRACE_EACH_OF(a->t, p, i)
        VP_TRY(walk_track(w, device, i, i == training));
    }
    if (h->activity_count)
        qsort(h->activities, h->activity_count, sizeof *h->activities, by_activity_time);
    if (h->activity_count > ACTIVITIES_MAX)
        h->activity_count = ACTIVITIES_MAX;
    return 0;
}

int activities_collect(analysis *a)
{
    walk w = {.a = a};
    int rc = walk_all(&w);
    vp_free(w.roles);
    vp_free(w.frames.v);
    return rc;
}
