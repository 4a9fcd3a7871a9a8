/* Merges steps: steps with one number are one step of the job. */
#include "trace/analyze/merge/merge_parts.h"

#include <stdio.h>

#include "trace/base/order.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* A step of a part, with its ordinal among that part's steps of equal name and number. These three
 * match it with steps of other parts. */
typedef struct step_entry {
    const vp_step *step;
    const merge_part *part;
    size_t occurrence;
} step_entry;

static int order_steps_by_number(const vp_step *x, const vp_step *y)
{
    int order = vp_order(x->number, y->number);
    return order ? order : merge_order(x->name, y->name);
}

static int by_part(const void *a, const void *b)
{
    const step_entry *x = a, *y = b;
    int order = order_steps_by_number(x->step, y->step);
    if (!order)
        order = vp_order((int64_t)x->part->rank, (int64_t)y->part->rank);
    return order ? order : (x->step > y->step) - (x->step < y->step);
}

static int by_occurrence(const void *a, const void *b)
{
    const step_entry *x = a, *y = b;
    int order = order_steps_by_number(x->step, y->step);
    if (!order)
        order = vp_order((int64_t)x->occurrence, (int64_t)y->occurrence);
    return order ? order : vp_order((int64_t)x->part->rank, (int64_t)y->part->rank);
}

static int by_step_time(const void *a, const void *b)
{
    const vp_step *x = a, *y = b;
    int order = vp_order(x->start_ps, y->start_ps);
    return order ? order : order_steps_by_number(x, y);
}

static int by_device(const void *a, const void *b)
{
    return vp_order(((const vp_step_device *)a)->device, ((const vp_step_device *)b)->device);
}

/* The order in which a trace's sources are tried (steps_marks.c). */
static int source_order(vp_step_source s)
{
    static const uint8_t order[] = {
        [VP_STEPS_LINE] = 1,     [VP_STEPS_ANNOTATION] = 2, [VP_STEPS_PROFILER] = 3,
        [VP_STEPS_REPEATED] = 4, [VP_STEPS_OPTIMIZER] = 5,  [VP_STEPS_MODULES] = 6,
        [VP_STEPS_NAMED] = 1};
    return order[s];
}

/* The first source of steps, in that order, that any part has. Steps of other
 * parts with a different source are left out with a note. */
static vp_step_source choose_source(merging *m)
{
    vp_step_source best = VP_STEPS_NONE;
    for (size_t i = 0; i < m->count; i++) {
        vp_step_source s = m->parts[i].r->steps.source;
        if (s != VP_STEPS_NONE && (best == VP_STEPS_NONE || source_order(s) < source_order(best)))
            best = s;
    }
    for (size_t i = 0; i < m->count; i++) {
        const vp_report *r = m->parts[i].r;
        char text[200];
        if (r->steps.source == best || r->steps.source == VP_STEPS_NONE)
            continue;
        snprintf(text, sizeof text,
                 "%zu steps of host %.80s have a different source than those of other hosts and "
                 "are left out",
                 r->steps.count, r->host_count && r->hosts[0] ? r->hosts[0] : "-");
        m->r->quality[m->r->quality_count++] = (vp_quality){.code = "steps-differ",
                                                            .severity = VP_SEV_WARNING,
                                                            .message = merge_text(m, text),
                                                            .event = -1,
                                                            .byte = -1};
    }
    return best;
}

/* Counts steps, and devices over all of them. */
static size_t collect_step_entries(step_entry *out, size_t *devices, const merging *m,
                                   vp_step_source source)
{
    size_t n = 0;
    *devices = 0;
    for (size_t i = 0; i < m->count; i++) {
        const vp_steps *s = &m->parts[i].r->steps;
        for (size_t k = 0; s->source == source && k < s->count; k++) {
            if (out)
                out[n] = (step_entry){&s->list[k], &m->parts[i], 0};
            *devices += s->list[k].device_count;
            n++;
        }
    }
    return n;
}

static void number_occurrences(step_entry *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (v[i].part == v[i - 1].part && order_steps_by_number(v[i].step, v[i - 1].step) == 0)
            v[i].occurrence = v[i - 1].occurrence + 1;
}

/* The critical device is the one with the longest window. Without devices, a step is as long as on
 * its slowest host. */
static void find_critical(vp_step *out)
{
    for (size_t i = 0; i < out->device_count; i++) {
        const vp_step_device *d = &out->devices[i];
        if (i && d->dur_ps <= out->dur_ps)
            continue;
        out->device = d->device;
        out->start_ps = d->start_ps;
        out->dur_ps = d->dur_ps;
    }
}

static void adopt_device(const merge_part *p, vp_step_device *d)
{
    d->device = merge_device(p, d->device);
    d->start_ps = merge_time(p, d->start_ps);
}

static void add_entry_devices(vp_step *out, const step_entry *e)
{
    for (size_t k = 0; k < e->step->device_count; k++) {
        vp_step_device *d = &out->devices[out->device_count++];
        *d = e->step->devices[k];
        adopt_device(e->part, d);
    }
}

/* Devices of a step of one part, without copying. */
static void keep_devices(vp_step *out, const step_entry *e)
{
    for (size_t k = 0; k < out->device_count; k++)
        adopt_device(e->part, &out->devices[k]);
}

/* The devices of a step of several parts. room: memory for those of all remaining steps; these are
 * taken from it. */
static void join_devices(vp_step *out, const step_entry *e, size_t count, vp_step_device **room)
{
    out->devices = *room;
    out->device_count = 0;
    for (size_t i = 0; i < count; i++)
        add_entry_devices(out, &e[i]);
    *room += out->device_count;
}

/* Without devices, a step is that of the host on which it is longest. */
static void adopt_grown(merging *m, vp_grown *out, const step_entry *e)
{
    *out = e->step->grew;
    out->name = merge_text(m, out->name);
    out->thread = merge_text(m, out->thread);
    out->caller = merge_text(m, out->caller);
    out->device = merge_device(e->part, out->device);
    out->start_ps = merge_time(e->part, out->start_ps);
}

static void join_step_entries(merging *m, vp_step *out, const step_entry *e, size_t count,
                              vp_step_device **room)
{
    const step_entry *longest = e;
    *out = *e->step;
    out->name = merge_text(m, out->name);
    out->device = merge_device(e->part, out->device);
    out->start_ps = merge_time(e->part, out->start_ps);
    for (size_t i = 0; i < count; i++) {
        out->partial = out->partial || e[i].step->partial;
        if (e[i].step->dur_ps > out->dur_ps) {
            out->start_ps = merge_time(e[i].part, e[i].step->start_ps);
            out->dur_ps = e[i].step->dur_ps;
            longest = &e[i];
        }
    }
    adopt_grown(m, &out->grew, longest);
    if (m->keeps_rows)
        keep_devices(out, e);
    else
        join_devices(out, e, count, room);
    if (!out->device_count) {
        out->devices = NULL;
        return;
    }
    vp_put_in_order(out->devices, out->device_count, sizeof *out->devices, by_device);
    if (count > 1)
        find_critical(out);
}

int merge_steps(merging *m)
{
    vp_steps *s = &m->r->steps;
    size_t same, n, devices;
    s->source = choose_source(m);
    n = collect_step_entries(NULL, &devices, m, s->source);
    VP_CLEANUP(vp_free_ptr) step_entry *v = vp_calloc(n, sizeof *v);
    s->list = merge_room(m, n, sizeof *s->list);
    vp_step_device *room = vp_arena_alloc(m->arena, m->keeps_rows ? 0 : devices * sizeof *room);
    if (!v || !room || m->out_of_memory)
        return vp_no_memory();
    collect_step_entries(v, &devices, m, s->source);
    vp_put_in_order(v, n, sizeof *v, by_part);
    number_occurrences(v, n);
    vp_put_in_order(v, n, sizeof *v, by_occurrence);
    for (size_t i = 0; i < n; i += same) {
        for (same = 1; i + same < n && v[i].occurrence == v[i + same].occurrence &&
                       order_steps_by_number(v[i].step, v[i + same].step) == 0;)
            same++;
        join_step_entries(m, &s->list[s->count++], &v[i], same, &room);
    }
    vp_put_in_order(s->list, s->count, sizeof *s->list, by_step_time);
    return 0;
}
