#include "trace/analyze/steps/steps.h"

#include <string.h>

#include "trace/analyze/device/device_sums.h"
#include "trace/analyze/device/ops.h"
#include "trace/analyze/device/sweep.h"
#include "trace/analyze/steps/steps_judge.h"
#include "trace/analyze/steps/steps_parts.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/order.h"
#include "trace/base/thread.h"

/* ---- One step of the program is one step of all devices ---- */

/* Whether every device's steps have different numbers. */
static int numbered(bool *yes, const step_search *s)
{
    *yes = true;
    for (size_t d = 0; d < s->device_count; d++) {
        vp_map seen;
        int rc = 0;
        vp_map_init(&seen);
        for (size_t i = 0; rc >= 0 && i < s->device[d].n; i++) {
            uint64_t number = (uint64_t)s->device[d].v[i].number;
            *yes =
                *yes && s->device[d].v[i].number >= 0 && vp_map_get(&seen, number) == VP_MAP_NONE;
            rc = vp_map_set(&seen, number, 0);
        }
        vp_map_free(&seen);
        VP_TRY(rc);
    }
    return 0;
}

/* Joins the steps of all devices: by number if they have different ones; else the k-th of one
 * device is the k-th of each. */
static int match_devices(step_search *s, uint32_t *count)
{
    vp_map by_number;
    bool use_numbers;
    int rc = 0;
    VP_TRY(numbered(&use_numbers, s));
    vp_map_init(&by_number);
    *count = 0;
    for (size_t d = 0; d < s->device_count; d++)
        for (size_t i = 0; rc >= 0 && i < s->device[d].n; i++) {
            step_mark *x = &s->device[d].v[i];
            uint64_t key = use_numbers ? (uint64_t)x->number : i;
            x->step = vp_map_get(&by_number, key);
            if (x->step == VP_MAP_NONE) {
                x->step = (*count)++;
                rc = vp_map_set(&by_number, key, x->step);
            }
        }
    vp_map_free(&by_number);
    return rc;
}

static int match(step_search *s, uint32_t *count)
{
    if (!s->host.n)
        return match_devices(s, count);
    for (size_t i = 0; i < s->host.n; i++)
        s->host.v[i].step = (uint32_t)i;
    *count = (uint32_t)s->host.n;
    return step_marks_join(s);
}

/* ---- Windows become entries of the list ---- */

/* A host's steps while they are put together. */
typedef struct building {
    analysis *a;
    step_search *search;       /* empty once steps are named */
    step_window_list *windows; /* by device */
    bool *cut;                 /* by step */
    uint32_t steps;
} building;

static int new_windows(step_windows *out, const step_window_list *l, vp_arena *arena)
{
    step_windows w = {vp_arena_alloc(arena, l->n * sizeof *w.start_ps),
                      vp_arena_alloc(arena, l->n * sizeof *w.end_ps),
                      vp_arena_alloc(arena, l->n * sizeof *w.step),
                      vp_arena_alloc(arena, l->n * sizeof *w.entry), l->n};
    VP_NEED(w.start_ps && w.end_ps && w.step && w.entry);
    for (size_t i = 0; i < l->n; i++) {
        w.start_ps[i] = l->v[i].start;
        w.end_ps[i] = l->v[i].end;
        w.step[i] = l->v[i].step;
    }
    *out = w;
    return 0;
}

/* Of device d, in the places that open_entries gave it: each device on a thread. */
static int fill_entries(void *ctx, uint32_t d)
{
    const building *b = ctx;
    const host_result *h = b->a->h;
    const step_window_list *l = &b->windows[d];
    const step_windows *w = &b->a->windows[d];
    VP_CLEANUP(vp_free_ptr) vp_breakdown *parts = vp_calloc(l->n + 1, sizeof *parts);
    VP_NEED(parts);
    VP_TRY(sweep_windows(parts, b->a->devices[d].set, grouping_sweep_classes(b->a->g), w->start_ps,
                         w->end_ps, l->n));
    for (size_t i = 0; i < l->n; i++)
        h->steps.list[l->v[i].step].devices[w->entry[i]] =
            (vp_step_device){.device = d,
                             .start_ps = l->v[i].aligned - h->origin_ps,
                             .dur_ps = l->v[i].end - l->v[i].start,
                             .breakdown = parts[i]};
    return 0;
}

/* Gives each step room for as many devices as it has windows, parts of one block, and each window
 * its place in it. */
static int open_entries(building *b)
{
    vp_step *list = b->a->h->steps.list;
    size_t n = 0;
    for (uint32_t d = 0; d < b->a->device_count; d++)
        n += b->windows[d].n;
    vp_step_device *room = vp_arena_alloc(&b->a->h->step_rows, n * sizeof *room);
    VP_NEED(room);
    for (uint32_t d = 0; d < b->a->device_count; d++)
        for (size_t i = 0; i < b->windows[d].n; i++)
            b->a->windows[d].entry[i] = (uint32_t)list[b->windows[d].v[i].step].device_count++;
    for (uint32_t i = 0; i < b->steps; i++) {
        list[i].devices = room;
        room += list[i].device_count;
    }
    return 0;
}

/* A step takes as long as its longest window; without windows, as long as the host says. */
static void choose_critical(vp_step *x)
{
    for (size_t i = 0; i < x->device_count; i++)
        if (x->device == VP_NO_DEVICE || x->devices[i].dur_ps > x->dur_ps) {
            x->device = x->devices[i].device;
            x->start_ps = x->devices[i].start_ps;
            x->dur_ps = x->devices[i].dur_ps;
        }
}

static int name_steps(building *b, const step_marks *m)
{
    host_result *h = b->a->h;
    const char *last = NULL;
    for (size_t i = 0; i < m->n; i++) {
        const step_mark *x = &m->v[i];
        vp_step *step = &h->steps.list[x->step];
        b->cut[x->step] = b->cut[x->step] || x->is_cut;
        if (step->name)
            continue;
        if (!last || !vp_str_eq(vp_str_of(last), x->name))
            VP_TRY(host_text(&last, h, x->name.n ? x->name : VP_STR("(no name)")));
        step->name = last;
        step->number = x->number;
        step->device = VP_NO_DEVICE;
        step->start_ps = x->start - h->origin_ps;
        b->a->marked_start_ps[x->step] = m == &b->search->host ? x->start : 1;
        b->a->marked_end_ps[x->step] = m == &b->search->host ? x->end : 0;
        b->a->marked_track[x->step] = x->track;
        step->dur_ps = x->end - x->start;
    }
    return 0;
}

/* Nobody asks for the marks any more then, and what comes takes more room than they. */
static int name_all(building *b)
{
    VP_TRY(name_steps(b, &b->search->host));
    for (size_t d = 0; d < b->search->device_count; d++)
        VP_TRY(name_steps(b, &b->search->device[d]));
    step_search_free(b->search);
    return 0;
}

/* Fills in the steps. A step that is cut on one device is partial; a device without a window for a
 * step has no entry in it. */
static int fill_list(building *b)
{
    host_result *h = b->a->h;
    if (h->has_devices) {
        VP_TRY(open_entries(b));
        VP_TRY(
            vp_each(device_sums_threads(b->a->t), (uint32_t)b->a->device_count, fill_entries, b));
    }
    for (uint32_t i = 0; i < b->steps; i++) {
        vp_step *x = &h->steps.list[i];
        choose_critical(x);
        x->partial = b->cut[i] || (h->has_devices && x->device == VP_NO_DEVICE);
    }
    return 0;
}

/* ---- By time ---- */

typedef struct place {
    int64_t start;
    uint32_t step;
} place;

static int by_start(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
                                : (x->step > y->step) - (x->step < y->step);
}

/* Sorts the steps by time. They are sorted already, unless devices number steps themselves. */
static int order_list(building *b)
{
    vp_steps *s = &b->a->h->steps;
    VP_CLEANUP(vp_free_ptr) place *order = vp_calloc(s->count + 1, sizeof *order);
    VP_CLEANUP(vp_free_ptr) uint32_t *now_at = vp_calloc(s->count + 1, sizeof *now_at);
    VP_CLEANUP(vp_free_ptr) int64_t *marked = vp_calloc(2 * s->count + 1, sizeof *marked);
    VP_CLEANUP(vp_free_ptr) uint32_t *tracks = vp_calloc(s->count + 1, sizeof *tracks);
    int64_t *starts = b->a->marked_start_ps, *ends = b->a->marked_end_ps;
    vp_step *sorted = vp_calloc(s->count + 1, sizeof *sorted);
    if (!order || !now_at || !marked || !tracks || !sorted) {
        vp_free(sorted);
        return vp_no_memory();
    }
    for (uint32_t i = 0; i < s->count; i++)
        order[i] = (place){s->list[i].start_ps, i};
    vp_put_in_order(order, s->count, sizeof *order, by_start);
    for (uint32_t i = 0; i < s->count; i++) {
        sorted[i] = s->list[order[i].step];
        marked[i] = starts[order[i].step];
        marked[s->count + i] = ends[order[i].step];
        tracks[i] = b->a->marked_track[order[i].step];
        now_at[order[i].step] = i;
    }
    for (uint32_t d = 0; d < b->a->device_count; d++)
        for (size_t i = 0; i < b->a->windows[d].count; i++)
            b->a->windows[d].step[i] = now_at[b->a->windows[d].step[i]];
    memcpy(starts, marked, s->count * sizeof *starts);
    memcpy(ends, marked + s->count, s->count * sizeof *ends);
    memcpy(b->a->marked_track, tracks, s->count * sizeof *tracks);
    vp_free(s->list);
    s->list = sorted;
    return 0;
}

/* ---- The question ---- */

static int find_windows(building *b)
{
    analysis *a = b->a;
    step_owner *o = NULL;
    VP_TRY(step_owner_new(&o, a, b->search));
    int rc = 0;
    for (uint32_t d = 0; rc >= 0 && d < a->device_count; d++)
        rc = step_windows_find(&b->windows[d], a, b->search, o, d, b->cut);
    step_owner_free(o);
    VP_TRY(rc);
    for (uint32_t d = 0; d < a->device_count; d++)
        VP_TRY(new_windows(&a->windows[d], &b->windows[d], &a->h->arena));
    return 0;
}

static int build(building *b)
{
    host_result *h = b->a->h;
    h->steps.list = vp_calloc((size_t)b->steps + 1, sizeof *h->steps.list);
    b->cut = vp_calloc((size_t)b->steps + 1, sizeof *b->cut);
    b->windows = vp_calloc(b->a->device_count + 1, sizeof *b->windows);
    b->a->windows = vp_arena_zalloc(&h->arena, (b->a->device_count + 1) * sizeof *b->a->windows);
    b->a->marked_start_ps = vp_arena_zalloc(&h->arena, b->steps * sizeof(int64_t) + 1);
    b->a->marked_end_ps = vp_arena_zalloc(&h->arena, b->steps * sizeof(int64_t) + 1);
    b->a->marked_track = vp_arena_zalloc(&h->arena, b->steps * sizeof(uint32_t) + 1);
    VP_NEED(b->a->marked_track && b->a->marked_start_ps && b->a->marked_end_ps && h->steps.list &&
            b->cut && b->windows && b->a->windows);
    h->step_cap = (size_t)b->steps + 1;
    h->steps.count = b->steps;
    h->steps.source = b->search->source;
    VP_TRY(find_windows(b));
    VP_TRY(name_all(b));
    VP_TRY(fill_list(b));
    VP_TRY(order_list(b));
    return steps_judge(&h->steps, &h->arena);
}

static int build_all(analysis *a, step_search *s)
{
    building b = {.a = a, .search = s};
    VP_TRY(match(s, &b.steps));
    VP_TRY(step_marks_note(a->h, s));
    int rc = b.steps ? build(&b) : 0;
    for (size_t d = 0; b.windows && d < a->device_count; d++)
        vp_free(b.windows[d].v);
    vp_free(b.windows);
    vp_free(b.cut);
    return rc;
}

int steps_collect(analysis *a)
{
    step_search s;
    VP_TRY(step_search_run(&s, a));
    int rc = build_all(a, &s);
    if (rc >= 0)
        rc = steps_note(a->h);
    step_search_free(&s);
    VP_TRY(rc);
    if (!a->windows)
        return 0;
    VP_TRY(step_ops_collect(a));
    VP_TRY(step_modules_repeats(a));
    if (!a->h->has_devices)
        a->windows = NULL; /* without devices the windows are no device's */
    return 0;
}
