#include "trace/analyze/memory/dynamic_allocators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/analyze/memory/call_sites.h"
#include "trace/analyze/memory/holders.h"
#include "trace/analyze/memory/planned_sizes.h"
#include "trace/analyze/memory/rows.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/sums.h"
#include "trace/read/semantics/attrs.h"

/* Points of an allocator's curve in the report. */
#define SAMPLES_MAX 200

/* One allocator of one device. Bytes in use are recorded in its events. If events only have
 * differences (Kineto before 2022), an offset is added to the whole curve so that it is never below
 * 0. */
typedef struct allocator {
    uint32_t process;
    vp_sid name;
    int64_t device; /* SINK_NO_VALUE: unknown */
    bool absolute;
    int64_t events, allocations, frees;
    int64_t running, least;     /* sum of the differences, and its minimum */
    int64_t first_ps, last_ps;  /* aligned clock */
    int64_t peak, peak_ps, end; /* of the curve, without the offset */
    int64_t total, stack;       /* at the peak; stack: that of a TPU's programs */
    int64_t reserved,
        reserved_most; /* reserved from the device: at the peak, maximum; 0: unknown */
    int64_t reserved_last;
    int64_t scattered, scattered_of;      /* free when more was reserved, and the total then */
    int64_t fragmented;                   /* at the peak; VP_UNKNOWN */
    int64_t lifetime, taken, steps_taken; /* bytes; bytes; allocations within steps */
    mem_holders holders;
    int64_t *sample_ps, *sample;              /* the highest point in each time slice */
    int64_t *sample_reserved, *sample_pieces; /* there; VP_UNKNOWN */
    size_t slices, kept;                      /* slices: 0 until they are allocated */
    int64_t slice_start, slice_end;           /* of the last stored point */
} allocator;

/* A holder of memory: a site, in a step (VP_UNKNOWN: outside any), and the planned block. */
typedef struct mem_holder_key {
    uint32_t site, planned; /* planned: result of planned_sizes_find */
    int64_t step;
} mem_holder_key;

typedef struct allocators {
    allocator *v;
    size_t n, cap, last; /* last: the index of the last match, which usually matches again */
    vp_map by_key;
    analysis *a;
    mem_call *calls; /* allocations in the order of their tracks */
    size_t call_count, call_cap, call_at;
    mem_site *sites;
    size_t site_count;
    mem_holder_key *keys; /* of holders, by number */
    size_t key_count, key_cap;
    vp_map by_holder;
    int64_t *step_start, *step_end; /* on the host's clock, ascending */
    int64_t *step_number;
    size_t step_count;
    planned_sizes planned;
} allocators;

static uint64_t allocator_key(uint32_t process, vp_sid name, int64_t device)
{
    return vp_mix((uint64_t)process << 32 | name) ^ (uint64_t)device;
}

static int allocators_find(allocator **out, allocators *all, uint32_t process, vp_sid name,
                           int64_t device)
{
    const allocator *last = all->n ? &all->v[all->last] : NULL;
    if (last && last->process == process && last->name == name && last->device == device) {
        *out = &all->v[all->last];
        return 0;
    }
    uint64_t key = allocator_key(process, name, device);
    uint32_t i = vp_map_get(&all->by_key, key);
    if (i == VP_MAP_NONE) {
        VP_TRY(vp_grow(&all->v, &all->cap, all->n + 1, sizeof *all->v, UINT32_MAX - 1));
        i = (uint32_t)all->n;
        VP_TRY(vp_map_set(&all->by_key, key, i));
        all->v[all->n++] = (allocator){.process = process,
                                       .name = name,
                                       .device = device,
                                       .fragmented = VP_UNKNOWN,
                                       .lifetime = VP_UNKNOWN};
    }
    all->last = i;
    *out = &all->v[i];
    return 0;
}

static int64_t event_in_use(const trace_track *k, size_t e)
{
    return rd_memory_in_use(trace_attr(k, SINK_MEM_USED, e), trace_attr(k, SINK_MEM_FREE, e),
                            trace_attr(k, SINK_MEM_RESERVED, e));
}

/* The level of the curve after this event. */
static int64_t allocator_level(allocator *a, const trace_track *k, size_t e)
{
    int64_t used = event_in_use(k, e), delta = trace_attr(k, SINK_MEM_DELTA, e);
    if (used >= 0) {
        a->absolute = true;
        return a->running = used;
    }
    if (delta == SINK_NO_VALUE || __builtin_add_overflow(a->running, delta, &delta))
        return a->running;
    return a->running = delta;
}

/* What the allocator could hand out in all (docs/reference/findings.md#f22-memory): in use,
 * reserved and free. */
static int64_t total_of(const trace_track *k, size_t e)
{
    int64_t used = event_in_use(k, e), free = trace_attr(k, SINK_MEM_FREE, e), sum;
    bool known = used >= 0 && free >= 0 && !__builtin_add_overflow(used, free, &sum);
    return known ? sum : VP_UNKNOWN;
}

/* The change of the level. TPU's events of freeing have only the level after them. */
static int64_t allocator_change(const allocator *a, const trace_track *k, size_t e, int64_t before)
{
    int64_t delta = trace_attr(k, SINK_MEM_DELTA, e);
    return delta != SINK_NO_VALUE || !a->events ? delta : a->running - before;
}

/* The part of free memory that is not in the largest block. */
static int64_t fragmented_of(const trace_track *k, size_t e)
{
    int64_t bits = trace_attr(k, SINK_MEM_FRAGMENTED, e), free = trace_attr(k, SINK_MEM_FREE, e);
    double share;
    if (bits == SINK_NO_VALUE || free < 0)
        return VP_UNKNOWN;
    memcpy(&share, &bits, sizeof share);
    return share >= 0 && share <= 1 ? (int64_t)(share * (double)free) : VP_UNKNOWN;
}

/* The memory reserved from the device, if it grows: an allocator that reports free memory reserves
 * all of it at the start. */
static int64_t segments_of(const trace_track *k, size_t e)
{
    int64_t reserved = trace_attr(k, SINK_MEM_RESERVED, e);
    return total_of(k, e) < 0 && reserved > 0 ? reserved : VP_UNKNOWN;
}

static void note_peak(allocator *a, const trace_track *k, size_t e, int64_t level)
{
    int64_t reserved = trace_attr(k, SINK_MEM_RESERVED, e);
    a->peak = level;
    a->peak_ps = trace_aligned_start(k, e);
    a->total = total_of(k, e);
    a->stack = a->total >= 0 && reserved > 0 ? reserved : 0;
    a->reserved = a->total < 0 && reserved > 0 ? reserved : 0;
    a->fragmented = fragmented_of(k, e);
    mem_holders_at_peak(&a->holders);
}

/* The id of the holder of this allocation, whose call is the next listed one. */
static int holder_here(allocators *all, const mem_call *c, int64_t bytes, uint32_t *who)
{
    const uint32_t op = c->site < all->site_count ? all->sites[c->site].op : SINK_NONE;
    const trace *t = all->a->t;
    vp_str call = op == SINK_NONE ? VP_STR_NONE : trace_str(t, t->kinds[op].name);
    const uint32_t planned = all->planned.n ? planned_sizes_find(&all->planned, bytes, call) : 0;
    const mem_steps steps = {all->step_start, all->step_end, all->step_count};
    size_t step = mem_step_of(&steps, c->at);
    uint64_t key = ((uint64_t)c->site << 32 | (uint32_t)step) ^ (planned ? vp_mix(planned) : 0);
    *who = vp_map_get(&all->by_holder, key);
    if (*who != VP_MAP_NONE)
        return 0;
    VP_TRY(vp_grow(&all->keys, &all->key_cap, all->key_count + 1, sizeof *all->keys, 1u << 29));
    *who = (uint32_t)all->key_count;
    all->keys[all->key_count++] = (mem_holder_key){
        c->site, planned, step < all->step_count ? all->step_number[step] : VP_UNKNOWN};
    return vp_map_set(&all->by_holder, key, *who);
}

/* Events of freeing on TPUs have an address only. */
static int replay_free_event(allocators *all, allocator *a, const trace_track *k, size_t e)
{
    int64_t delta = trace_attr(k, SINK_MEM_DELTA, e), address = trace_attr(k, SINK_MEM_ADDRESS, e);
    uint32_t who;
    if (delta <= 0) {
        if (address != SINK_NO_VALUE)
            mem_holders_give(&a->holders, (uint64_t)address);
        return 0;
    }
    const mem_call *c = &all->calls[all->call_at++];
    const mem_steps steps = {all->step_start, all->step_end, all->step_count};
    a->steps_taken += mem_step_of(&steps, c->at) < steps.n;
    a->taken = vp_add_most(a->taken, delta);
    if (address == SINK_NO_VALUE)
        return 0;
    VP_TRY(holder_here(all, c, delta, &who));
    return mem_holders_take(&a->holders, (uint64_t)address, delta, who, c->at);
}

/* More is reserved from the device for a request that does not fit into any free block. */
static void note_reserved(allocator *a, int64_t reserved, int64_t before, int64_t delta)
{
    int64_t free = before >= 0 ? a->reserved_last - before : 0;
    if (a->events && a->absolute && reserved > a->reserved_last && delta > 0 && free >= delta &&
        free > a->scattered) {
        a->scattered = free;
        a->scattered_of = a->reserved_last;
    }
    a->reserved_last = reserved;
    a->reserved_most = reserved > a->reserved_most ? reserved : a->reserved_most;
}

static int count_event(allocators *all, allocator *a, const trace_track *k, size_t e)
{
    int64_t before = a->running, level = allocator_level(a, k, e),
            delta = allocator_change(a, k, e, before);
    int64_t at = trace_aligned_start(k, e), lifetime = trace_attr(k, SINK_MEM_LIFETIME, e);
    int64_t reserved = trace_attr(k, SINK_MEM_RESERVED, e);
    VP_TRY(replay_free_event(all, a, k, e));
    if (!a->events || level > a->peak)
        note_peak(a, k, e, level);
    if (!a->events)
        a->first_ps = at;
    a->events++;
    a->allocations += delta > 0;
    a->frees += delta < 0 && delta != SINK_NO_VALUE;
    a->least = level < a->least ? level : a->least;
    a->last_ps = at;
    a->end = level;
    a->lifetime = lifetime > a->lifetime ? lifetime : a->lifetime;
    if (total_of(k, e) < 0 && reserved >= 0)
        note_reserved(a, reserved, before, delta);
    return 0;
}

/* First step: finds the call sites of allocations. */
static int list_call(allocators *all, allocator *a, const trace_track *k, size_t e)
{
    int64_t thread = trace_attr(k, SINK_MEM_THREAD, e);
    (void)a;
    if (trace_attr(k, SINK_MEM_DELTA, e) <= 0)
        return 0;
    VP_TRY(vp_grow(&all->calls, &all->call_cap, all->call_count + 1, sizeof *all->calls,
                   UINT32_MAX - 1));
    all->calls[all->call_count++] =
        (mem_call){.track = thread >= 0 && thread < UINT32_MAX ? (uint32_t)thread : UINT32_MAX,
                   .kind = trace_kind_of(k, e),
                   .at = trace_aligned_start(k, e)};
    return 0;
}

/* Second pass: stores the highest level of each of equal slices of the allocator's time. */
static int sample_event(allocators *all, allocator *a, const trace_track *k, size_t e)
{
    (void)all;
    int64_t level = allocator_level(a, k, e), at = trace_aligned_start(k, e);
    size_t i = a->kept ? a->kept - 1 : 0;
    bool same = a->kept && at >= a->slice_start && at < a->slice_end;
    if (!same) {
        int64_t slice = (a->last_ps - a->first_ps) / (int64_t)a->slices + 1;
        i = a->kept++;
        a->slice_start = at - (at - a->first_ps) % slice;
        a->slice_end = a->slice_start + slice;
    }
    if (!same || level > a->sample[i]) {
        a->sample_ps[i] = at;
        a->sample[i] = level;
        a->sample_reserved[i] = segments_of(k, e);
        a->sample_pieces[i] = fragmented_of(k, e);
    }
    return 0;
}

typedef int event_fn(allocators *all, allocator *a, const trace_track *k, size_t e);

static size_t next_memory_event(const trace_track *k, size_t e)
{
    return trace_column_next_of(k->attr[SINK_MEM_DELTA], k->attr[SINK_MEM_USED], e);
}

static int each_event(allocators *all, const trace *t, event_fn *fn)
{
    for (uint32_t i = 0; i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        for (size_t e = next_memory_event(k, 0); e < k->count; e = next_memory_event(k, e + 1)) {
            allocator *a;
            VP_TRY(
                allocators_find(&a, all, k->process, k->name, trace_attr(k, SINK_MEM_DEVICE, e)));
            VP_TRY(fn(all, a, k, e));
        }
    }
    return 0;
}

static int make_slices(allocators *all, vp_arena *arena)
{
    for (size_t i = 0; i < all->n; i++) {
        allocator *a = &all->v[i];
        a->slices = a->events < SAMPLES_MAX ? (size_t)a->events : SAMPLES_MAX;
        a->running = 0;
        a->sample_ps = vp_arena_alloc(arena, a->slices * sizeof *a->sample_ps);
        a->sample = vp_arena_alloc(arena, a->slices * sizeof *a->sample);
        a->sample_reserved = vp_arena_alloc(arena, a->slices * sizeof *a->sample_reserved);
        a->sample_pieces = vp_arena_alloc(arena, a->slices * sizeof *a->sample_pieces);
        VP_NEED(a->sample_ps && a->sample && a->sample_reserved && a->sample_pieces);
    }
    return 0;
}

/* The name of the allocator. "GPU_4_bfc" contains its device; to "memory" (TPU) and Kineto's
 * "[memory]" the device is appended if it is known. */
static int name_allocator(const char **out, host_result *h, const allocator *a, vp_str name)
{
    char text[120];
    bool kineto = vp_str_eq(name, VP_STR("[memory]")), said = false;
    for (size_t i = 0; i < name.n; i++)
        said = said || (name.p[i] >= '0' && name.p[i] <= '9');
    if (kineto && a->device < 0)
        return host_text(out, h, VP_STR("CPU"));
    if (said || a->device < 0)
        return host_text(out, h, name.n ? name : VP_STR("memory"));
    snprintf(text, sizeof text, "%.80s %lld",
             kineto   ? "GPU"
             : name.n ? name.p
                      : "memory",
             (long long)a->device);
    return host_text(out, h, vp_str_of(text));
}

/* ---- Rows ---- */

static int kind_text(const char **out, host_result *h, const trace *t, uint32_t kind)
{
    static const vp_str module = VP_STR_INIT("nn.Module: ");
    vp_str name = kind == SINK_NONE ? VP_STR_NONE : trace_str(t, t->kinds[kind].name);
    if (vp_str_starts(name, module))
        name = vp_str_skip(name, module.n);
    if (vp_str_starts(name, VP_STR("$")))
        name = vp_str_skip(name, 1);
    return host_text(out, h, name);
}

/* An allocation is named by the op that it is for, else by the call that made it, else by the
 * frame. */
static int name_allocation_site(const char **name, const char **scope, const char **source,
                                allocators *all, uint32_t site)
{
    static const mem_site none = {SINK_NONE, SINK_NONE, SINK_NONE, SINK_NONE};
    const mem_site *x = site < all->site_count ? &all->sites[site] : &none;
    host_result *h = all->a->h;
    const trace *t = all->a->t;
    VP_TRY(kind_text(name, h, t, x->op));
    VP_TRY(kind_text(scope, h, t, x->module));
    VP_TRY(kind_text(source, h, t, x->frame));
    if (x->tf_op != SINK_NONE)
        VP_TRY(host_text(scope, h, trace_str(t, t->kinds[x->tf_op].scope)));
    if (!*name)
        *name = *scope ? *scope : *source ? *source : "(no call)";
    return 0;
}

static int put_allocator_holders(vp_memory *m, allocators *all, allocator *a)
{
    mem_rows rows;
    vp_memory_item *stack = vp_arena_zalloc(&all->a->h->arena, sizeof *stack);
    VP_NEED(stack);
    mem_holders_end(&a->holders);
    if (a->stack > 0 && a->stack <= m->peak_bytes) {
        *stack = (vp_memory_item){
            .name = "stack", .bytes = a->stack, .count = VP_UNKNOWN, .step = VP_UNKNOWN};
        VP_TRY(planned_sizes_text(&stack->planned, all->a->h, &all->planned,
                                  planned_sizes_of_stack(&all->planned, a->stack)));
        m->top = stack;
        m->top_count = 1;
    }
    VP_TRY(mem_rows_new(&rows, a->holders.n));
    for (uint32_t i = 0; i < a->holders.n; i++)
        mem_rows_add(&rows, i, a->holders.v[i].peak_bytes, a->holders.v[i].peak_count);
    mem_rows_choose(&rows);
    int rc = 0;
    for (size_t i = 0; rc >= 0 && i < rows.n; i++) {
        vp_memory_item *x = &rows.v[i].item;
        const mem_holder_key *key = &all->keys[rows.v[i].who];
        x->step = key->step;
        rc = name_allocation_site(&x->name, &x->scope, &x->source, all, key->site);
        if (rc >= 0)
            rc = planned_sizes_text(&x->planned, all->a->h, &all->planned, key->planned);
    }
    if (rc >= 0)
        rc = mem_rows_give(m, &all->a->h->arena, &rows, "(allocated before the window)");
    mem_rows_free(&rows);
    return rc;
}

static int put_allocator_leaks(vp_memory *m, allocators *all, allocator *a)
{
    const mem_steps steps = {all->step_start, all->step_end, all->step_count};
    VP_CLEANUP(vp_free_ptr) mem_leak *v = NULL;
    size_t n;
    VP_CLEANUP(vp_free_ptr) uint32_t *group = vp_calloc(all->key_count + 1, sizeof *group);
    VP_NEED(group);
    for (size_t i = 0; i < all->key_count; i++)
        group[i] = all->keys[i].site;
    VP_TRY(mem_holders_leaks(&v, &n, &m->leak_steps, &a->holders, &steps, group));
    n = n < MEM_ROWS_MAX ? n : MEM_ROWS_MAX;
    m->leaks = vp_arena_zalloc(&all->a->h->arena, (n + 1) * sizeof *m->leaks);
    VP_NEED(m->leaks);
    for (; m->leak_count < n; m->leak_count++) {
        const mem_leak *from = &v[m->leak_count];
        vp_leak *to = &m->leaks[m->leak_count];
        *to = (vp_leak){.bytes = from->bytes, .count = from->count, .steps = from->steps};
        VP_TRY(name_allocation_site(&to->name, &to->scope, &to->source, all, from->holder));
    }
    return 0;
}

/* If events have the largest free block, the rest of the free memory is fragmented. Other
 * allocators reserve segments from the device: memory that was free when they reserved one more,
 * and was at least as large as the request, was fragmented. */
static void put_fragments(vp_memory *m, const allocator *a)
{
    bool segments = a->reserved_most > 0;
    m->fragmented_bytes = segments ? a->scattered : a->fragmented;
    m->fragmented_of_bytes = a->fragmented >= 0 ? a->total : VP_UNKNOWN;
    if (segments)
        m->fragmented_of_bytes = a->scattered ? a->scattered_of : a->reserved_most;
}

/* All of them, if all are known. */
static size_t all_known(const int64_t *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (v[i] < 0)
            return 0;
    return n;
}

static int emit_allocator(allocators *all, allocator *a)
{
    host_result *h = all->a->h;
    int64_t lift = a->absolute ? 0 : -a->least;
    bool addresses = a->holders.piece_n > 0;
    vp_memory m = {.peak_bytes = a->peak + lift,
                   .peak_start_ps = a->peak_ps - h->origin_ps,
                   .total_bytes = a->total,
                   .lifetime_peak_bytes = a->lifetime,
                   .reserved_bytes = a->reserved_most > 0 ? a->reserved : VP_UNKNOWN,
                   .reserved_peak_bytes = a->reserved_most > 0 ? a->reserved_most : VP_UNKNOWN,
                   .allocations = a->allocations,
                   .frees = a->frees,
                   .end_bytes = a->end + lift,
                   .allocated_bytes = a->taken,
                   .out_of_memory = VP_UNKNOWN,
                   .steps = all->step_count ? (int64_t)all->step_count : VP_UNKNOWN,
                   .step_allocations = all->step_count ? a->steps_taken : VP_UNKNOWN,
                   .leak_steps = VP_UNKNOWN,
                   .sample_start_ps = a->sample_ps,
                   .sample_bytes = a->sample,
                   .sample_count = a->kept,
                   .sample_reserved_bytes = a->sample_reserved,
                   .sample_reserved_count = all_known(a->sample_reserved, a->kept),
                   .sample_fragmented_bytes = a->sample_pieces,
                   .sample_fragmented_count = all_known(a->sample_pieces, a->kept)};
    for (size_t i = 0; i < a->kept; i++) {
        a->sample_ps[i] -= h->origin_ps;
        a->sample[i] += lift;
    }
    put_fragments(&m, a);
    if (addresses || a->stack > 0)
        VP_TRY(put_allocator_holders(&m, all, a));
    if (addresses && all->step_count)
        VP_TRY(put_allocator_leaks(&m, all, a));
    VP_TRY(name_allocator(&m.allocator, h, a, trace_str(all->a->t, a->name)));
    VP_TRY(vp_grow(&h->memory, &h->memory_cap, h->memory_count + 1, sizeof m, UINT32_MAX));
    h->memory[h->memory_count++] = m;
    return 0;
}

static int by_allocator_peak(const void *a, const void *b)
{
    const vp_memory *x = a, *y = b;
    if (x->peak_bytes != y->peak_bytes)
        return x->peak_bytes > y->peak_bytes ? -1 : 1;
    return strcmp(x->allocator, y->allocator);
}

/* Steps as on the host, since memory is allocated there; without marks, as on the devices. Steps
 * that overlap the previous one, or were cut off, are left out. */
static int list_steps(allocators *all)
{
    const analysis *a = all->a;
    const vp_steps *steps = &a->h->steps;
    int64_t last = INT64_MIN;
    all->step_start = vp_calloc(steps->count + 1, sizeof *all->step_start);
    all->step_end = vp_calloc(steps->count + 1, sizeof *all->step_end);
    all->step_number = vp_calloc(steps->count + 1, sizeof *all->step_number);
    VP_NEED(all->step_start && all->step_end && all->step_number);
    for (size_t i = 0; i < steps->count; i++) {
        const vp_step *s = &steps->list[i];
        bool marked = a->marked_start_ps && a->marked_start_ps[i] <= a->marked_end_ps[i];
        int64_t start = marked ? a->marked_start_ps[i] : s->start_ps + a->h->origin_ps;
        int64_t end = marked ? a->marked_end_ps[i] : start + s->dur_ps;
        if (s->partial || start < last || end <= start)
            continue;
        all->step_start[all->step_count] = start;
        all->step_end[all->step_count] = last = end;
        all->step_number[all->step_count++] = s->number;
    }
    return 0;
}

static int collect_allocators(allocators *all)
{
    host_result *h = all->a->h;
    const trace *t = all->a->t;
    VP_TRY(each_event(all, t, list_call));
    if (!all->n && !all->call_count)
        return 0;
    VP_TRY(planned_sizes_new(&all->planned, h));
    VP_TRY(list_steps(all));
    VP_TRY(mem_sites_find(&all->sites, &all->site_count, all->calls, all->call_count, t));
    VP_TRY(each_event(all, t, count_event));
    VP_TRY(make_slices(all, &h->arena));
    VP_TRY(each_event(all, t, sample_event));
    for (size_t i = 0; i < all->n; i++)
        VP_TRY(emit_allocator(all, &all->v[i]));
    if (h->memory_count)
        qsort(h->memory, h->memory_count, sizeof *h->memory, by_allocator_peak);
    return 0;
}

static void drop_allocators(allocators *all)
{
    for (size_t i = 0; i < all->n; i++)
        mem_holders_free(&all->v[i].holders);
    planned_sizes_free(&all->planned);
    vp_map_free(&all->by_key);
    vp_map_free(&all->by_holder);
    vp_free(all->v);
    vp_free(all->calls);
    vp_free(all->sites);
    vp_free(all->keys);
    vp_free(all->step_start);
    vp_free(all->step_end);
    vp_free(all->step_number);
}

int memory_collect(analysis *a)
{
    allocators all = {.a = a};
    vp_map_init(&all.by_key);
    vp_map_init(&all.by_holder);
    int rc = collect_allocators(&all);
    drop_allocators(&all);
    for (sink_attr x = SINK_MEM_DELTA; x <= SINK_MEM_THREAD; x++) /* all data of allocators */
        analysis_forget(a, x);
    return rc;
}
