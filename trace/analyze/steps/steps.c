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

/* ---- Joining the steps of all devices ---- */

/* True if every device's steps have different numbers. */
static int have_unique_numbers(bool *yes, const step_search *s)
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

/* Joins the steps of all devices: by number if these are unique; else the k-th step of each device.
 */
static int match_devices(step_search *s, uint32_t *count)
{
    vp_map by_number;
    bool use_numbers;
    int rc = 0;
    VP_TRY(have_unique_numbers(&use_numbers, s));
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

static int match_steps(step_search *s, uint32_t *count)
{
    if (!s->host.n)
        return match_devices(s, count);
    for (size_t i = 0; i < s->host.n; i++)
        s->host.v[i].step = (uint32_t)i;
    *count = (uint32_t)s->host.n;
    return step_marks_join(s);
}

/* ---- Windows become entries of the list ---- */

/* The steps of a host while they are joined. */
typedef struct building {
    analysis *a;
    step_search *search; /* those without a window */
    bool *cut;           /* by step */
    uint32_t steps;
} building;

static int new_windows(step_windows *out, const step_window_list *l, vp_arena *arena)
{
    step_windows w = {vp_arena_alloc(arena, l->n * sizeof *w.start_ps),
                      vp_arena_alloc(arena, l->n * sizeof *w.end_ps),
                      vp_arena_alloc(arena, l->n * sizeof *w.aligned_ps),
                      vp_arena_alloc(arena, l->n * sizeof *w.step),
                      vp_arena_alloc(arena, l->n * sizeof *w.entry),
                      l->n};
    VP_NEED(w.start_ps && w.end_ps && w.aligned_ps && w.step && w.entry);
    for (size_t i = 0; i < l->n; i++) {
        w.start_ps[i] = l->v[i].start;
        w.end_ps[i] = l->v[i].end;
        w.aligned_ps[i] = l->v[i].aligned;
        w.step[i] = l->v[i].step;
    }
    *out = w;
    return 0;
}

static int pack_breakdown(void *writer, const vp_breakdown *b)
{
    return packed_steps_put(writer, (const int64_t *)b);
}

/* For device d, each on its own thread. */
static int pack_breakdowns(void *ctx, uint32_t d)
{
    const building *b = ctx;
    packed_steps_writer w;
    packed_steps_begin(&w, STEP_BREAKDOWN);
    int rc = sweep_windows(b->a->devices[d].set, grouping_sweep_classes(b->a->g), &b->a->windows[d],
                           pack_breakdown, &w);
    return packed_steps_end(&w, &b->a->h->packed, d, rc);
}

/* Assigns each window its index among the devices of its step. A step takes as long as its longest
 * window, or without windows as long as on the host. */
static void place_windows(building *b, uint32_t d)
{
    const host_result *h = b->a->h;
    const step_windows *w = &b->a->windows[d];
    for (size_t i = 0; i < w->count; i++) {
        vp_step *x = &h->steps.list[w->step[i]];
        int64_t dur = w->end_ps[i] - w->start_ps[i];
        w->entry[i] = (uint32_t)x->device_count++;
        if (x->device != VP_NO_DEVICE && dur <= x->dur_ps)
            continue;
        x->device = d;
        x->start_ps = w->aligned_ps[i] - h->origin_ps;
        x->dur_ps = dur;
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

static int name_all(building *b)
{
    VP_TRY(name_steps(b, &b->search->host));
    for (size_t d = 0; d < b->search->device_count; d++)
        VP_TRY(name_steps(b, &b->search->device[d]));
    return 0;
}

/* Fills the steps. A step that is cut on one device is partial; a device without a window for a
 * step has no entry in it. */
static int fill_list(building *b)
{
    host_result *h = b->a->h;
    uint32_t devices = h->has_devices ? (uint32_t)b->a->device_count : 0;
    VP_TRY(packed_steps_open(&h->packed, b->a->windows, devices));
    for (uint32_t d = 0; d < devices; d++)
        place_windows(b, d);
    for (uint32_t i = 0; i < b->steps; i++) {
        vp_step *x = &h->steps.list[i];
        x->partial = b->cut[i] || (h->has_devices && x->device == VP_NO_DEVICE);
    }
    return vp_each(device_sums_threads(b->a->t), devices, pack_breakdowns, b);
}

/* ---- By time ---- */

typedef struct place {
    int64_t start;
    uint32_t step;
} place;

static int by_step_start(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
                                : (x->step > y->step) - (x->step < y->step);
}

static bool are_steps_in_order(const vp_steps *s)
{
    for (size_t i = 1; i < s->count; i++)
        if (s->list[i].start_ps < s->list[i - 1].start_ps)
            return false;
    return true;
}

/* Sorts the steps by time, if needed: they are sorted unless devices have their own step numbers.
 */
static int order_list(building *b)
{
    vp_steps *s = &b->a->h->steps;
    if (are_steps_in_order(s))
        return 0;
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
    vp_put_in_order(order, s->count, sizeof *order, by_step_start);
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

/* ---- Public function ---- */

static int find_on_device(step_windows *out, const building *b, step_owner *o, uint32_t d)
{
    step_window_list l = {0};
    int rc = step_windows_find(&l, b->a, b->search, o, d, b->cut);
    step_marks_free(&b->search->device[d]); /* freed early: the rest needs more memory */
    if (rc >= 0)
        rc = new_windows(out, &l, &b->a->h->arena);
    vp_free(l.v);
    return rc;
}

static int find_windows(building *b)
{
    step_owner *o = NULL;
    VP_TRY(step_owner_new(&o, b->a, b->search));
    int rc = 0;
    for (uint32_t d = 0; rc >= 0 && d < b->a->device_count; d++)
        rc = find_on_device(&b->a->windows[d], b, o, d);
    step_owner_free(o);
    return rc;
}

static int build_step_list(building *b)
{
    host_result *h = b->a->h;
    h->steps.list = vp_calloc((size_t)b->steps + 1, sizeof *h->steps.list);
    b->cut = vp_calloc((size_t)b->steps + 1, sizeof *b->cut);
    b->a->windows = vp_arena_zalloc(&h->arena, (b->a->device_count + 1) * sizeof *b->a->windows);
    b->a->marked_start_ps = vp_arena_zalloc(&h->arena, b->steps * sizeof(int64_t) + 1);
    b->a->marked_end_ps = vp_arena_zalloc(&h->arena, b->steps * sizeof(int64_t) + 1);
    b->a->marked_track = vp_arena_zalloc(&h->arena, b->steps * sizeof(uint32_t) + 1);
    VP_NEED(b->a->marked_track && b->a->marked_start_ps && b->a->marked_end_ps && h->steps.list &&
            b->cut && b->a->windows);
    h->step_cap = (size_t)b->steps + 1;
    h->steps.count = b->steps;
    h->steps.source = b->search->source;
    VP_TRY(name_all(b));
    VP_TRY(find_windows(b));
    step_search_free(b->search);
    VP_TRY(fill_list(b));
    VP_TRY(order_list(b));
    return steps_judge(&h->steps, &h->arena);
}

static int build_all(analysis *a, step_search *s)
{
    building b = {.a = a, .search = s};
    VP_TRY(match_steps(s, &b.steps));
    VP_TRY(step_marks_note(a->h, s));
    int rc = b.steps ? build_step_list(&b) : 0;
    vp_free(b.cut);
    return rc;
}

int steps_collect(analysis *a)
{
    step_search s;
    VP_TRY(step_search_run(&s, a));
    int rc = build_all(a, &s);
    step_owner_forget(a);
    if (rc >= 0)
        rc = steps_note(a->h);
    step_search_free(&s);
    VP_TRY(rc);
    VP_TRY(step_modules_repeats(a));
    if (!a->windows)
        return 0;
    VP_TRY(step_ops_collect(a));
    if (!a->h->has_devices)
        a->windows = NULL; /* without devices the windows belong to no device */
    return 0;
}
