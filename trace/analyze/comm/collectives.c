#include "trace/analyze/comm/collectives.h"

#include <stdlib.h>

#include "trace/analyze/comm/comm.h"
#include "trace/analyze/comm/flights.h"
#include "trace/analyze/comm/members.h"
#include "trace/analyze/device/ops.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* Maximum of stored calls of a row: all of them, or every 2nd, 4th, …. */
#define SAMPLES_MAX 1024

/* The collectives of one device: one row per group of ops, kind of collective, number of
 * participants, and members. */
typedef struct work {
    analysis *a;
    uint32_t device;
    const flight_kinds *kinds;
    members *who;
    cover compute;
    flights all;
    vp_map by_key;
    size_t base; /* index of this device's rows in h->collectives */
} work;

static uint64_t collective_key(uint32_t group, comm_kind kind, int64_t group_size,
                               const group_members *g)
{
    uint64_t key = (uint64_t)group << 36 | (uint64_t)kind << 32 | (uint32_t)group_size;
    vp_str text = vp_str_of(g->text ? g->text : "");
    return vp_hash(text.p, text.n, vp_mix(key) ^ (uint64_t)g->groups);
}

static int add_collective_row(uint32_t *row, work *w, uint32_t kind, comm_kind what)
{
    host_result *h = w->a->h;
    const trace *t = w->a->t;
    const trace_kind *k = &t->kinds[kind];
    uint32_t group = grouping_groups(w->a->g)[kind];
    group_members who;
    VP_TRY(members_of(&who, w->who, k, w->a->devices[w->device].process));
    uint64_t key = collective_key(group, what, k->group_size, &who);
    *row = vp_map_get(&w->by_key, key);
    if (*row != VP_MAP_NONE)
        return 0;
    vp_collective c = {.device = w->device,
                       .kind = comm_name(what),
                       .group_size = k->group_size > 0 ? k->group_size : VP_UNKNOWN,
                       .groups = who.groups,
                       .members = who.text,
                       .wait_ps = VP_UNKNOWN};
    VP_TRY(host_text(&c.name, h, grouping_label(w->a->g, group)));
    VP_TRY(host_text(&c.scope, h, trace_str(t, k->scope)));
    VP_TRY(vp_grow(&h->collectives, &h->collective_cap, h->collective_count + 1, sizeof c,
                   UINT32_MAX));
    *row = (uint32_t)(h->collective_count - w->base);
    h->collectives[h->collective_count++] = c;
    return vp_map_set(&w->by_key, key, *row);
}

/* Row and payload of a kind, which are determined once. */
typedef struct looked {
    uint32_t row;
    bool seen;
    int64_t payload;
} looked;

static int assign_rows(work *w, looked *by_kind)
{
    const trace *t = w->a->t;
    for (size_t i = 0; i < w->all.n; i++) {
        flight *f = &w->all.v[i];
        looked *l = &by_kind[f->kind];
        if (!l->seen) {
            VP_TRY(add_collective_row(&l->row, w, f->kind, comm_of(t, &t->kinds[f->kind])));
            l->payload = comm_payload(t, &t->kinds[f->kind]);
            l->seen = true;
        }
        f->row = l->row;
    }
    return 0;
}

/* The sum over all calls; unknown if one is. */
static int64_t flights_bytes(const looked *by_kind, const flight *v, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t bytes = by_kind[v[i].kind].payload;
        if (bytes < 0 || __builtin_add_overflow(sum, bytes, &sum))
            return VP_UNKNOWN;
    }
    return sum;
}

static int64_t stride_for(size_t n)
{
    int64_t stride = 1;
    while ((n - 1) / (size_t)stride >= SAMPLES_MAX)
        stride *= 2;
    return stride;
}

/* Stores the blocking part of calls: the op, or the "-done" of a pair, in which devices wait for
 * each other. The start is on the aligned clock, the duration on the device's. */
static int sample_blocking_calls(vp_collective *c, work *w, const flight *v, size_t n)
{
    host_result *h = w->a->h;
    const trace *t = w->a->t;
    c->sample_stride = stride_for(n);
    c->sample_count = (n - 1) / (size_t)c->sample_stride + 1;
    c->sample_start_ps = vp_arena_alloc(&h->arena, c->sample_count * sizeof(int64_t));
    c->sample_dur_ps = vp_arena_alloc(&h->arena, c->sample_count * sizeof(int64_t));
    c->sample_exposed_ps = vp_arena_alloc(&h->arena, c->sample_count * sizeof(int64_t));
    VP_NEED(c->sample_start_ps && c->sample_dur_ps && c->sample_exposed_ps);
    for (size_t i = 0; i < c->sample_count; i++) {
        const flight *f = &v[i * (size_t)c->sample_stride];
        const trace_track *k = &t->tracks[f->track];
        uint32_t e = f->done != FLIGHT_NO_DONE ? f->done : f->first;
        c->sample_start_ps[i] = trace_aligned_start(k, e) - h->origin_ps;
        c->sample_dur_ps[i] = trace_dur(k, e);
        c->sample_exposed_ps[i] =
            trace_dur(k, e) - cover_length(&w->compute, trace_start(k, e), trace_end(k, e));
    }
    return 0;
}

static int fill_row(work *w, size_t row, const looked *by_kind, const flight *v, size_t n)
{
    vp_collective *c = &w->a->h->collectives[w->base + row];
    flight_sums s;
    VP_TRY(flight_sum(&s, v, n, w->a->t, &w->compute));
    c->count = (int64_t)n;
    c->total_ps = s.in_flight_ps;
    c->union_ps = s.union_ps;
    c->exposed_ps = s.exposed_ps;
    c->bytes = flights_bytes(by_kind, v, n);
    return sample_blocking_calls(c, w, v, n);
}

static int fill_rows(work *w, looked *by_kind)
{
    const device_work *d = &w->a->devices[w->device];
    VP_CLEANUP(vp_free_ptr) size_t *first = NULL;
    VP_TRY(assign_rows(w, by_kind));
    size_t rows = w->a->h->collective_count - w->base;
    VP_TRY(flights_sort(&w->all, &first, rows, w->a->t));
    VP_TRY(
        cover_build(&w->compute, d->set, grouping_sweep_classes(w->a->g), SWEEP_COVER(VP_COMPUTE)));
    for (size_t r = 0; r < rows; r++)
        VP_TRY(fill_row(w, r, by_kind, w->all.v + first[r], first[r + 1] - first[r]));
    return 0;
}

/* by_kind: a buffer that the devices share. */
static int collectives_of_device(analysis *a, uint32_t device, const flight_kinds *kinds,
                                 members *who, looked *by_kind)
{
    const kind_list *l = &a->devices[device].times;
    work w = {.a = a, .device = device, .kinds = kinds, .who = who, .base = a->h->collective_count};
    vp_map_init(&w.by_key);
    int rc = flights_find(&w.all, a->devices[device].set, grouping_classes(a->g), VP_COMMUNICATION,
                          kinds);
    for (uint32_t i = 0; i < l->n; i++)
        by_kind[l->kind[i]] = (looked){0};
    if (rc >= 0 && w.all.n)
        rc = fill_rows(&w, by_kind);
    flights_free(&w.all);
    cover_free(&w.compute);
    vp_map_free(&w.by_key);
    return rc;
}

static int by_exposed(const void *a, const void *b)
{
    const vp_collective *x = a, *y = b;
    if (x->exposed_ps != y->exposed_ps)
        return x->exposed_ps > y->exposed_ps ? -1 : 1;
    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    int order = strcmp(x->name ? x->name : "", y->name ? y->name : "");
    if (!order)
        order = (x->group_size > y->group_size) - (x->group_size < y->group_size);
    return order ? order : strcmp(x->members ? x->members : "", y->members ? y->members : "");
}

int collectives_collect(analysis *a)
{
    flight_kinds *kinds = NULL;
    members who;
    if (!a->h->has_devices)
        return 0;
    VP_CLEANUP(vp_free_ptr)
    looked *by_kind = vp_realloc_array(NULL, a->t->kind_count, sizeof *by_kind);
    VP_NEED(by_kind);
    VP_TRY(flight_kinds_new(&kinds, a->t));
    int rc = members_init(&who, a);
    for (size_t d = 0; rc >= 0 && d < a->device_count; d++)
        rc = collectives_of_device(a, (uint32_t)d, kinds, &who, by_kind);
    members_free(&who);
    flight_kinds_free(kinds);
    if (a->h->collective_count)
        qsort(a->h->collectives, a->h->collective_count, sizeof *a->h->collectives, by_exposed);
    return rc;
}
