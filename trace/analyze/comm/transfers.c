#include "trace/analyze/comm/transfers.h"

#include "trace/analyze/comm/direction.h"
#include "trace/analyze/comm/flights.h"
#include "trace/analyze/comm/slowed_ops.h"
#include "trace/analyze/device/any_device.h"
#include "trace/analyze/device/device_sums.h"
#include "trace/analyze/device/ops.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"

/* The attributes of a kind of copy. */
typedef struct looked {
    uint8_t way, page;
    int64_t bytes;
} looked;

/* *out: by kind. */
static int look_at_copies(looked **out, const analysis *a)
{
    const trace *t = a->t;
    const uint8_t *class_of = grouping_classes(a->g);
    looked *v = *out = vp_calloc(t->kind_count, sizeof *v);
    VP_NEED(v);
    for (uint32_t i = 0; i < t->kind_count; i++) {
        const trace_kind *k = &t->kinds[i];
        uint32_t origin = trace_kind_origin(t, i);
        if (origin != i)
            v[i] = v[origin];
        else if (class_of[i] == VP_COPY)
            v[i] = (looked){(uint8_t)direction_of(t, k),
                            (uint8_t)pageable_of(trace_str(t, k->name), trace_str(t, k->memcpy)),
                            copy_bytes(t, k)};
    }
    return 0;
}

/* The first of a direction sets attributes that are still unknown. */
static vp_transfer new_row(uint32_t device, vp_direction way)
{
    return (vp_transfer){.device = device,
                         .direction = way,
                         .pageable_count = VP_UNKNOWN,
                         .pageable_ps = VP_UNKNOWN,
                         .largest_bytes = VP_UNKNOWN,
                         .largest_start_ps = VP_NO_TIME,
                         .largest_dur_ps = VP_UNKNOWN,
                         .first_start_ps = VP_NO_TIME};
}

static void note_pageable(vp_transfer *x, pageable p, int64_t dur)
{
    if (p == PAGEABLE_UNKNOWN)
        return;
    if (x->pageable_count < 0)
        x->pageable_count = x->pageable_ps = 0;
    if (p == PAGEABLE_YES) {
        x->pageable_count++;
        x->pageable_ps += dur;
    }
}

/* Unknown if either is. */
static void add_bytes_if_known(int64_t *sum, int64_t bytes)
{
    if (*sum >= 0 && (bytes < 0 || __builtin_add_overflow(*sum, bytes, sum)))
        *sum = VP_UNKNOWN;
}

/* start: aligned clock, relative to the origin; of equally long ones the first is the largest. */
static void note_copy(vp_transfer *x, int64_t start, int64_t dur, int64_t bytes)
{
    x->count++;
    add_bytes_if_known(&x->bytes, bytes);
    if (x->first_start_ps == VP_NO_TIME || start < x->first_start_ps)
        x->first_start_ps = start;
    if (dur > x->largest_dur_ps) {
        x->largest_dur_ps = dur;
        x->largest_start_ps = start;
        x->largest_bytes = bytes;
    }
}

static int add_transfer_row(host_result *h, const vp_transfer *x)
{
    VP_TRY(vp_grow(&h->transfers, &h->transfer_cap, h->transfer_count + 1, sizeof *x, UINT32_MAX));
    h->transfers[h->transfer_count++] = *x;
    return 0;
}

/* x: for all of the flights, which have one direction. */
static int one_direction(vp_transfer *x, const analysis *a, const looked *by_kind, const flight *v,
                         size_t n, cover *others)
{
    flight_sums s;
    uint32_t largest = v[0].kind;
    for (size_t i = 0; i < n; i++) {
        const looked *l = &by_kind[v[i].kind];
        int64_t before = x->largest_dur_ps;
        span when = flight_span(a->t, &v[i]);
        int64_t dur = when.end - when.start;
        note_copy(x, flight_aligned_start(a->t, &v[i]) - a->h->origin_ps, dur, l->bytes);
        note_pageable(x, (pageable)l->page, dur);
        largest = x->largest_dur_ps != before ? v[i].kind : largest;
    }
    if (a->t->kinds[largest].source)
        VP_TRY(host_text(&x->caller, a->h, trace_str(a->t, a->t->kinds[largest].source)));
    VP_TRY(flight_sum(&s, v, n, a->t, others));
    x->total_ps = s.ops_ps;
    x->busy_ps = s.union_ps;
    x->exposed_ps = s.exposed_ps;
    x->exposed_count = s.exposed;
    return 0;
}

/* The transfers of devices while they are collected, each device on a thread. */
typedef struct of_devices {
    const analysis *a;
    const flight_kinds *kinds;
    const looked *by_kind;
    vp_transfer (*rows)[VP_DIRECTIONS]; /* by device; count 0: none */
} of_devices;

static int fill_directions(vp_transfer *rows, const of_devices *x, uint32_t device, flights *all,
                           cover *others)
{
    VP_CLEANUP(vp_free_ptr) size_t *first = NULL;
    for (size_t i = 0; i < all->n; i++)
        all->v[i].row = x->by_kind[all->v[i].kind].way;
    VP_TRY(flights_sort(all, &first, VP_DIRECTIONS, x->a->t));
    for (uint32_t w = 0; w < VP_DIRECTIONS; w++) {
        rows[w] = new_row(device, (vp_direction)w);
        if (first[w + 1] > first[w])
            VP_TRY(one_direction(&rows[w], x->a, x->by_kind, all->v + first[w],
                                 first[w + 1] - first[w], others));
    }
    return 0;
}

static int transfers_of_device(void *ctx, uint32_t device)
{
    const of_devices *x = ctx;
    const analysis *a = x->a;
    track_set set = a->devices[device].set;
    cover others = {0};
    flights all;
    int rc = flights_find(&all, set, grouping_classes(a->g), VP_COPY, x->kinds);
    if (rc >= 0 && all.n)
        rc = cover_build(&others, set, grouping_sweep_classes(a->g),
                         SWEEP_COVER(VP_COMPUTE) | SWEEP_COVER(VP_COMMUNICATION));
    if (rc >= 0 && all.n)
        rc = fill_directions(x->rows[device], x, device, &all, &others);
    flights_free(&all);
    cover_free(&others);
    return rc;
}

static int find_all(analysis *a, of_devices *x)
{
    VP_TRY(vp_each(device_sums_threads(a->t), (uint32_t)a->device_count, transfers_of_device, x));
    for (size_t d = 0; d < a->device_count; d++)
        for (size_t w = 0; w < VP_DIRECTIONS; w++)
            if (x->rows[d][w].count)
                VP_TRY(add_transfer_row(a->h, &x->rows[d][w]));
    return 0;
}

/* ---- CPU devices: what the host's threads do is the transfer
 * (docs/reference/findings.md#f6-transfers) ---- */

typedef struct host_copies {
    vp_transfer row;
    spans when;
    int64_t exposed;
} host_copies;

/* The outermost spans of each direction on one thread, because JAX nests them. */
static int copies_on_thread(host_copies *by_way, const analysis *a, const trace_track *k,
                            const uint8_t *way_of, const spans *idle)
{
    int64_t reach[VP_DIRECTIONS];
    for (size_t w = 0; w < VP_DIRECTIONS; w++)
        reach[w] = INT64_MIN;
    size_t near = 0;
    for (size_t i = 0; i < k->count; i++) {
        uint8_t way = way_of[trace_kind_of(k, i)];
        if (way == VP_OTHER_COPY)
            continue;
        host_copies *x = &by_way[way];
        int64_t start = trace_aligned_start(k, i), end = trace_aligned_end(k, i);
        if (end <= reach[way])
            continue;
        reach[way] = end;
        note_copy(&x->row, start - a->h->origin_ps, end - start, VP_UNKNOWN);
        x->row.total_ps += end - start;
        x->exposed += spans_cut(idle, start, end, &near) > 0;
        VP_TRY(spans_add(&x->when, start, end));
    }
    return 0;
}

static int add_host_row(host_copies *x, analysis *a, const spans *idle)
{
    VP_TRY(spans_union(&x->when));
    x->row.busy_ps = spans_length(&x->when);
    x->row.exposed_ps = spans_overlap(&x->when, idle);
    x->row.exposed_count = x->exposed;
    return x->row.count ? add_transfer_row(a->h, &x->row) : 0;
}

static int find_host_copies(host_copies *by_way, analysis *a, const uint8_t *way_of)
{
    const spans *idle;
    int rc = any_device_idle(&idle, a);
    for (uint32_t i = 0; rc >= 0 && i < a->t->track_count; i++)
        if (a->t->tracks[i].role == SINK_ROLE_PLAIN)
            rc = copies_on_thread(by_way, a, &a->t->tracks[i], way_of, idle);
    spans all = {0};
    for (uint32_t w = 0; rc >= 0 && w < VP_DIRECTIONS; w++) {
        rc = add_host_row(&by_way[w], a, idle);
        if (rc >= 0)
            rc = spans_unite(&all, &by_way[w].when);
    }
    if (rc >= 0 && all.n)
        rc = slowed_ops_collect(a, &all);
    spans_free(&all);
    return rc;
}

static int transfers_of_host(analysis *a)
{
    VP_CLEANUP(vp_free_ptr) uint8_t *way_of = vp_calloc(a->t->kind_count, sizeof *way_of);
    host_copies by_way[VP_DIRECTIONS];
    VP_NEED(way_of);
    for (uint32_t k = 0; k < a->t->kind_count; k++)
        way_of[k] = (uint8_t)direction_of_host_span(trace_str(a->t, a->t->kinds[k].name));
    for (uint32_t w = 0; w < VP_DIRECTIONS; w++) {
        by_way[w] = (host_copies){new_row(VP_NO_DEVICE, (vp_direction)w), {NULL, 0, 0}, 0};
        by_way[w].row.host_only = true;
    }
    int rc = find_host_copies(by_way, a, way_of);
    for (uint32_t w = 0; w < VP_DIRECTIONS; w++)
        spans_free(&by_way[w].when);
    return rc;
}

int transfers_collect(analysis *a)
{
    VP_CLEANUP(vp_free_ptr) looked *by_kind = NULL;
    flight_kinds *kinds = NULL;
    if (!a->h->has_devices)
        return 0;
    VP_TRY(look_at_copies(&by_kind, a));
    VP_CLEANUP(vp_free_ptr)
    vp_transfer(*rows)[VP_DIRECTIONS] = vp_calloc(a->device_count + 1, sizeof *rows);
    VP_NEED(rows);
    VP_TRY(flight_kinds_new(&kinds, a->t));
    of_devices x = {a, kinds, by_kind, rows};
    int rc = find_all(a, &x);
    flight_kinds_free(kinds);
    if (rc >= 0 && host_all_cpu(a->h))
        rc = transfers_of_host(a);
    return rc;
}
