#include "trace/analyze/one_step.h"

#include <string.h>

#include "trace/analyze/steps/steps_judge.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/sums.h"

static int reserve_processes(one_step *s, uint32_t processes)
{
    s->devices = vp_calloc((size_t)processes + 1, sizeof *s->devices);
    s->start_ps = vp_calloc((size_t)processes + 1, sizeof *s->start_ps);
    s->end_ps = vp_calloc((size_t)processes + 1, sizeof *s->end_ps);
    VP_NEED(s->devices && s->start_ps && s->end_ps);
    for (uint32_t p = 0; p < processes; p++)
        s->start_ps[p] = 1;
    return 0;
}

static bool has_part(const one_step *s, uint32_t process)
{
    return s->start_ps[process] <= s->end_ps[process];
}

static int keep_text(char **out, const char *text)
{
    *out = text ? vp_strdup(text) : NULL;
    return text && !*out ? vp_no_memory() : 0;
}

/* Stores which zones grew in the step, since that needs the other steps. */
static int keep_grown(one_step *s, const analysis *a)
{
    const vp_grown *grew = &s->step.grew;
    s->grew_process = grew->device < a->device_count ? a->devices[grew->device].process : SINK_NONE;
    VP_TRY(keep_text(&s->grew_name, grew->name));
    return keep_text(&s->grew_thread, grew->thread);
}

/* The host's time for the step. If the program did not mark steps, that is the time of device work
 * for it. */
static void place_host(one_step *s, const analysis *a, uint32_t step)
{
    const vp_step *x = &a->h->steps.list[step];
    s->host_start_ps = a->marked_start_ps[step];
    s->host_end_ps = a->marked_end_ps[step];
    if (s->host_start_ps <= s->host_end_ps)
        return;
    s->host_start_ps = x->start_ps + a->h->origin_ps;
    s->host_end_ps = s->host_start_ps + x->dur_ps;
    for (size_t i = 0; i < x->device_count; i++) {
        int64_t start = x->devices[i].start_ps + a->h->origin_ps;
        int64_t end = start + x->devices[i].dur_ps;
        s->host_start_ps = start < s->host_start_ps ? start : s->host_start_ps;
        s->host_end_ps = end > s->host_end_ps ? end : s->host_end_ps;
    }
}

static void place_devices(one_step *s, const analysis *a, uint32_t step)
{
    const vp_step *x = &a->h->steps.list[step];
    for (uint32_t d = 0; a->windows && d < a->device_count; d++) {
        const step_windows *w = &a->windows[d];
        uint32_t p = a->devices[d].process;
        for (size_t i = 0; i < w->count; i++)
            if (w->step[i] == step) {
                s->start_ps[p] = w->start_ps[i];
                s->end_ps[p] = w->end_ps[i];
                s->devices[p] = x->devices[w->entry[i]];
            }
    }
}

/* Of several steps with the number, one of the first series that has any. all->count: none. */
static uint32_t find_step_number(const one_step *s, const vp_steps *all)
{
    uint32_t best = (uint32_t)all->count;
    for (uint32_t i = 0; i < all->count; i++) {
        const vp_step *x = &all->list[i];
        if (x->number != s->number ||
            (s->series && strcmp(s->series, all->series[x->series].name) != 0))
            continue;
        if (best == all->count || x->series < all->list[best].series)
            best = i;
    }
    return best;
}

int one_step_find(void *ctx, const analysis *a)
{
    one_step *s = ctx;
    const vp_steps *all = &a->h->steps;
    uint32_t i = find_step_number(s, all);
    if (i == all->count)
        return 0;
    s->found = true;
    s->step = all->list[i];
    s->source = all->source;
    VP_TRY(keep_text(&s->name, s->step.name));
    VP_TRY(keep_grown(s, a));
    VP_TRY(reserve_processes(s, a->t->process_count));
    place_host(s, a, i);
    place_devices(s, a, i);
    return 0;
}

/* The offset of a device's own clock from the host's at its first op that ends after `at`, or at
 * its last op before; 0: no separate clock. */
static int64_t clock_ahead_of_host(const trace *t, uint32_t process, int64_t at)
{
    int64_t best = INT64_MAX, last = INT64_MIN, after = 0, before = 0;
    TRACE_EACH_OF(t, process, i)
    {
        const trace_track *k = &t->tracks[i];
        for (size_t e = 0; k->role == SINK_ROLE_OPS && trace_has_aligned(k) && e < k->count; e++) {
            int64_t start = trace_aligned_start(k, e), differs = trace_start(k, e) - start;
            if (trace_aligned_end(k, e) <= at && start > last) {
                last = start;
                before = differs;
            } else if (trace_aligned_end(k, e) > at && start < best) {
                best = start;
                after = differs;
            }
        }
    }
    return best != INT64_MAX ? after : before;
}

int one_step_window(one_step *s, const trace *t, int64_t from_ps, int64_t until_ps)
{
    VP_TRY(reserve_processes(s, t->process_count));
    s->host_start_ps = from_ps;
    s->host_end_ps = until_ps;
    for (uint32_t p = 0; p < t->process_count; p++) {
        int64_t end = vp_add_within(until_ps, clock_ahead_of_host(t, p, until_ps));
        s->start_ps[p] = vp_add_within(from_ps, clock_ahead_of_host(t, p, from_ps));
        s->end_ps[p] = end > s->start_ps[p] ? end : s->start_ps[p];
    }
    return 0;
}

/* The remaining events of a track. */
typedef struct cut_times {
    trace_times own, aligned;
    uint32_t *order; /* the remaining events; space for all of them */
    uint32_t n;
} cut_times;

/* Keeps event i without its first `late` ps, and at most until the end of the step. */
static int cut_keep_event(cut_times *c, const trace_track *k, uint32_t i, int64_t late,
                          int64_t most)
{
    int64_t dur = trace_dur(k, i) - late;
    bool cut = late || dur > most;
    dur = dur < most ? dur : most;
    VP_TRY(trace_times_reserve(&c->own, c->n, c->n + 1));
    VP_TRY(trace_times_put(&c->own, c->n, trace_start(k, i) + late, dur, trace_kind_of(k, i)));
    if (trace_has_aligned(k)) {
        VP_TRY(trace_times_reserve(&c->aligned, c->n, c->n + 1));
        int64_t aligned = cut ? 0 : trace_times_dur(&k->aligned, i);
        VP_TRY(trace_times_put(&c->aligned, c->n, trace_aligned_start(k, i) + late, aligned, 0));
    }
    c->order[c->n++] = i;
    return 0;
}

static int keep_events(cut_times *c, const trace_track *k, const one_step *s, bool of_device)
{
    int64_t from = of_device ? s->start_ps[k->process] : s->host_start_ps;
    int64_t to = of_device ? s->end_ps[k->process] : s->host_end_ps;
    for (uint32_t i = 0; i < k->count; i++) {
        int64_t start = of_device ? trace_start(k, i) : trace_aligned_start(k, i);
        int64_t end = start + trace_dur(k, i), late = start < from ? from - start : 0;
        if (start >= to || end < from || (end == from && start < from))
            continue;
        VP_TRY(cut_keep_event(c, k, i, late, to - (start + late)));
    }
    return 0;
}

/* Events that cross an end of the step are cut to the time in it. */
static int cut_track(trace_track *k, const one_step *s, bool of_device, uint32_t *order)
{
    cut_times c = {.order = order};
    int rc = keep_events(&c, k, s, of_device);
    if (rc >= 0)
        rc = trace_track_keep(k, order, c.n, &c.own, &c.aligned);
    trace_times_free(&c.own);
    trace_times_free(&c.aligned);
    return rc;
}

int one_step_cut(trace *t, const one_step *s)
{
    VP_CLEANUP(vp_free_ptr) bool *device = vp_calloc((size_t)t->process_count + 1, sizeof *device);
    VP_CLEANUP(vp_free_ptr) uint32_t *order = NULL;
    size_t longest = 0;
    for (uint32_t i = 0; device && i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        device[k->process] = device[k->process] || (k->role == SINK_ROLE_OPS && k->count);
        longest = k->count > longest ? k->count : longest;
    }
    order = vp_calloc(longest + 1, sizeof *order);
    VP_NEED(device && order);
    for (uint32_t p = 0; p < t->process_count; p++) {
        bool none = device[p] && !has_part(s, p);
        t->processes[p].part_start_ps = none        ? SINK_NO_TIME
                                        : device[p] ? s->start_ps[p]
                                                    : s->host_start_ps;
        t->processes[p].part_end_ps = none        ? SINK_NO_TIME
                                      : device[p] ? s->end_ps[p]
                                                  : s->host_end_ps;
    }
    t->event_count = t->skipped_count = 0;
    for (uint32_t i = 0; i < t->track_count; i++) {
        VP_TRY(cut_track(&t->tracks[i], s, device[t->tracks[i].process], order));
        t->event_count += t->tracks[i].count;
    }
    return 0;
}

static int put_step_devices(vp_step *x, const one_step *s, const analysis *a)
{
    x->device = VP_NO_DEVICE;
    x->device_count = 0;
    x->devices = vp_arena_alloc(&a->h->step_rows, a->device_count * sizeof *x->devices);
    VP_NEED(x->devices);
    for (uint32_t d = 0; d < a->device_count; d++) {
        const vp_step_device *part = &s->devices[a->devices[d].process];
        if (!has_part(s, a->devices[d].process))
            continue;
        if (part->device == s->step.device)
            x->device = d;
        x->devices[x->device_count] = *part;
        x->devices[x->device_count++].device = d;
    }
    return 0;
}

static int put_step_text(const char **out, host_result *h, const char *text)
{
    return host_text(out, h, text ? vp_str_of(text) : VP_STR(""));
}

static int put_step_growth(vp_grown *grew, const one_step *s, const analysis *a)
{
    grew->device = VP_NO_DEVICE;
    for (uint32_t d = 0; d < a->device_count; d++)
        if (a->devices[d].process == s->grew_process)
            grew->device = d;
    VP_TRY(put_step_text(&grew->name, a->h, s->grew_name));
    return put_step_text(&grew->thread, a->h, s->grew_thread);
}

int one_step_put(const one_step *s, const analysis *a)
{
    host_result *h = a->h;
    vp_step *x = vp_calloc(1, sizeof *x);
    VP_NEED(x);
    vp_free(h->steps.list);
    h->steps.list = x;
    h->steps.count = h->step_cap = 1;
    h->steps.source = s->source;
    *x = s->step;
    VP_TRY(put_step_devices(x, s, a));
    VP_TRY(put_step_growth(&x->grew, s, a));
    VP_TRY(put_step_text(&x->name, h, s->name));
    h->capture_ps = s->host_end_ps - s->host_start_ps;
    return steps_judge(&h->steps, &h->arena);
}

void one_step_free(one_step *s)
{
    vp_free(s->name);
    vp_free(s->grew_name);
    vp_free(s->grew_thread);
    vp_free(s->devices);
    vp_free(s->start_ps);
    vp_free(s->end_ps);
}
