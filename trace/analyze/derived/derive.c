#include "trace/analyze/derived/derive.h"

#include <stdio.h>
#include <string.h>

#include "trace/analyze/result/result_words.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

/* Number of slowest calls of a device: as many as `top` lists ops by default. */
#define SLOWEST_MAX 10u

/* ---- Idle time, as it is accounted for ------------------------------------------------------ */

struct derive_idle {
    int64_t start_ps, end_ps, gap_ps;
    uint32_t device, thread;
    vp_sid label; /* of the trace */
    vp_cause cause;
};

int derive_idle_piece(void *ctx, const analysis *a, uint32_t device, const idle_gap *g,
                      const idle_piece *p)
{
    derive_task *t = ctx;
    (void)a;
    VP_TRY(vp_grow(&t->idle, &t->idle_cap, t->idle_count + 1, sizeof *t->idle, VP_EVENTS_MAX));
    t->idle[t->idle_count++] = (struct derive_idle){.start_ps = p->start,
                                                    .end_ps = p->end,
                                                    .gap_ps = g->end - g->start,
                                                    .device = device,
                                                    .thread = p->thread,
                                                    .label = p->label,
                                                    .cause = p->cause};
    return 0;
}

void derive_task_end(derive_task *t)
{
    vp_free(t->idle);
    t->idle = NULL;
    t->idle_count = t->idle_cap = 0;
}

static int name_idle(derived *d, vp_sid *out, vp_cause cause, vp_str why)
{
    char text[VP_DERIVED_NAME_MAX];
    int n = snprintf(text, sizeof text, why.n ? "%s: %.*s" : "%s", result_cause_words[cause],
                     (int)(why.n < sizeof text ? why.n : sizeof text), why.p);
    size_t length = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    return derived_name(d, out, (vp_str){text, length});
}

static int add_idle(derived *d, const trace *t, const struct derive_idle *i)
{
    derived_slice s = {
        .start_ps = i->start_ps, .end_ps = i->end_ps, .number = {i->gap_ps, VP_UNKNOWN}};
    VP_TRY(name_idle(d, &s.name, i->cause, trace_str(t, i->label)));
    VP_TRY(derived_name(d, &s.text[0], vp_str_of(result_cause_words[i->cause])));
    if (i->thread != IDLE_NO_THREAD)
        VP_TRY(derived_name(d, &s.text[1], trace_str(t, t->tracks[i->thread].name)));
    return derived_add(d, &s, NULL);
}

/* *next: the first piece of this device, and then of the next one. */
static int add_idle_track(derive_task *t, const derive_device *x, size_t *next)
{
    VP_TRY(derived_add_track(t->out, DERIVED_IDLE, VP_STR_NONE));
    for (; *next < t->idle_count && t->idle[*next].device == x->device; ++*next)
        VP_TRY(add_idle(t->out, x->a->t, &t->idle[*next]));
    return derived_end_track(t->out);
}

/* Without a device the processes replace it, and causes of idle time are unknown. parts: the track
 * that shows idle time. */
static int add_unknown_idle(const derive_device *x, derived_track parts)
{
    vp_sid idle;
    VP_TRY(derived_name(x->out, &idle, vp_str_of(derived_part_words[DERIVED_PART_IDLE])));
    VP_TRY(derived_add_track(x->out, DERIVED_IDLE, VP_STR_NONE));
    for (size_t i = 0; i < parts.count; i++) {
        derived_slice s = x->out->slices[parts.first + i];
        if (s.name != idle)
            continue;
        s.number[0] = s.end_ps - s.start_ps;
        VP_TRY(derived_name(x->out, &s.name, vp_str_of(result_cause_words[VP_CAUSE_UNKNOWN])));
        s.text[0] = s.name;
        VP_TRY(derived_add(x->out, &s, NULL));
    }
    return derived_end_track(x->out);
}

/* ---- Steps ---------------------------------------------------------------------------------- */

static int add_step(derived *d, const vp_step *step, int64_t start, int64_t end, int64_t idle_ps)
{
    derived_slice s = {.start_ps = start, .end_ps = end, .number = {step->number, idle_ps}};
    VP_TRY(derived_name(d, &s.name, step->name ? vp_str_of(step->name) : VP_STR("step")));
    return derived_add(d, &s, NULL);
}

static int add_steps_of_device(const derive_device *x)
{
    const step_windows *w = x->a->windows ? &x->a->windows[x->device] : NULL;
    VP_TRY(derived_add_track(x->out, DERIVED_STEPS, VP_STR_NONE));
    for (size_t i = 0; w && i < w->count; i++) {
        const vp_step *s = &x->a->h->steps.list[w->step[i]];
        VP_TRY(add_step(x->out, s, w->start_ps[i], w->end_ps[i],
                        s->devices[w->entry[i]].breakdown.idle_ps));
    }
    return derived_end_track(x->out);
}

/* For a program without devices, or whose devices have no ops. */
static int add_steps_of_host(derived *d, const analysis *a)
{
    const host_result *h = a->h;
    VP_TRY(derived_add_group(d, VP_STR_NONE));
    d->groups[d->group_count - 1].is_host = true;
    VP_TRY(derived_add_track(d, DERIVED_STEPS, VP_STR_NONE));
    for (size_t i = 0; i < h->steps.count; i++) {
        const vp_step *s = &h->steps.list[i];
        int64_t start = s->start_ps + h->origin_ps;
        VP_TRY(add_step(d, s, start, start + s->dur_ps, VP_UNKNOWN));
    }
    return derived_end_track(d);
}

/* ---- The slowest calls ---------------------------------------------------------------------- */

static int add_slowest(const derive_device *x)
{
    const host_result *h = x->a->h;
    const vp_op *top[SLOWEST_MAX] = {0};
    size_t n = 0;
    VP_TRY(derived_add_track(x->out, DERIVED_SLOWEST, VP_STR_NONE));
    for (size_t i = 0; i < h->op_count; i++) {
        const vp_op *o = &h->ops[i];
        size_t at = n;
        if (o->device != x->device || o->slowest_dur_ps <= 0)
            continue;
        while (at && top[at - 1]->self_ps < o->self_ps)
            at--;
        if (at == SLOWEST_MAX)
            continue;
        n += n < SLOWEST_MAX;
        memmove(top + at + 1, top + at, (n - 1 - at) * sizeof *top);
        top[at] = o;
    }
    for (size_t i = 0; i < n; i++) {
        const vp_op *o = top[i];
        int64_t start = o->slowest_start_ps + h->origin_ps;
        derived_slice s = {.start_ps = start,
                           .end_ps = start + o->slowest_dur_ps,
                           .number = {(int64_t)i + 1, o->self_ps}};
        VP_TRY(derived_name(x->out, &s.name, vp_str_of(o->name)));
        if (o->scope)
            VP_TRY(derived_name(x->out, &s.text[0], vp_str_of(o->scope)));
        VP_TRY(derived_add(x->out, &s, NULL));
    }
    return derived_end_track(x->out);
}

/* ---- A device, and all of them -------------------------------------------------------------- */

/* The file has such a track itself. */
static bool has_track(const derive_device *x, sink_role role, const char *name)
{
    const trace *t = x->a->t;
    TRACE_EACH_OF(t, x->a->devices[x->device].process, i)
    if (t->tracks[i].role == role && t->tracks[i].count &&
        (!name || vp_str_eq(trace_str(t, t->tracks[i].name), vp_str_of(name))))
        return true;
    return false;
}

/* The offset of the device's clock that places its first op as in the file. */
static int64_t shift_of(const derive_device *x)
{
    const track_set *set = &x->a->devices[x->device].set;
    const trace_track *first = NULL;
    for (size_t i = 0; i < set->count; i++) {
        const trace_track *k = &set->t->tracks[set->tracks[i]];
        if (k->count && (!first || trace_start(k, 0) < trace_start(first, 0)))
            first = k;
    }
    return first ? trace_aligned_start(first, 0) - trace_start(first, 0) : 0;
}

/* A device with its own clock has a second group, for times measured on that clock. */
static int add_own_clock(const derive_device *x, const char *name)
{
    VP_TRY(derived_add_group(x->out, vp_str_of(name)));
    derived_group *g = &x->out->groups[x->out->group_count - 1];
    g->own_clock = true;
    g->shift_ps = shift_of(x);
    return 0;
}

static int derive_add_device(derive_task *t, const analysis *a, uint32_t device, size_t *next_idle)
{
    derive_device x = {t->out, a, device};
    const vp_device *d = &a->h->devices[device];
    VP_TRY(derived_add_group(t->out, vp_str_of(d->name)));
    VP_TRY(add_slowest(&x));
    if (d->own_clock)
        VP_TRY(add_own_clock(&x, d->name));
    if (!has_track(&x, SINK_ROLE_STEPS, NULL))
        VP_TRY(add_steps_of_device(&x));
    VP_TRY(derive_parts(&x));
    size_t count = t->out->track_count;
    const derived_track *parts = count ? &t->out->tracks[count - 1] : NULL;
    if (a->h->has_devices)
        VP_TRY(add_idle_track(t, &x, next_idle));
    else if (parts && parts->kind == DERIVED_PARTS)
        VP_TRY(add_unknown_idle(&x, *parts));
    if (!has_track(&x, SINK_ROLE_MODULES, NULL))
        VP_TRY(derive_modules(&x));
    if (!has_track(&x, SINK_ROLE_DERIVED, "Framework Name Scope"))
        VP_TRY(derive_scopes(&x));
    return has_track(&x, SINK_ROLE_DERIVED, "Source code") ? 0 : derive_sources(&x);
}

int derive_host(void *ctx, const analysis *a)
{
    derive_task *t = ctx;
    size_t next = 0;
    t->out->file_origin_ns = a->t->file_origin_ns;
    t->out->origin_ps = a->h->origin_ps;
    if (!a->windows)
        VP_TRY(add_steps_of_host(t->out, a));
    for (size_t d = 0; d < a->device_count; d++)
        VP_TRY(derive_add_device(t, a, (uint32_t)d, &next));
    return derive_places(t->out, a->t);
}
