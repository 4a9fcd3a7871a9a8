#include "trace/analyze/host/memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "trace/analyze/result/analysis.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/read/names/attrs.h"

/* Points of an allocator's curve in the report. */
#define SAMPLES_MAX 200

/* One allocator of one device. Bytes in use are what its events say. If they only tell differences
 * (Kineto before 2022), the curve is lifted as a whole so that it never falls below 0. */
typedef struct allocator {
    uint32_t process;
    vp_sid name;
    int64_t device; /* SINK_NO_VALUE: unknown */
    bool absolute;
    int64_t events, allocations, frees;
    int64_t running, least;         /* sum of the differences, and its least value */
    int64_t first_ps, last_ps;      /* aligned clock */
    int64_t peak, peak_ps, end;     /* of the curve, before it is lifted */
    int64_t total, stack;           /* at the peak */
    int64_t *sample_ps, *sample;    /* the highest point in each slice of time */
    size_t slices, kept;            /* slices: 0 until they are made */
    int64_t slice_start, slice_end; /* of the last that was kept */
} allocator;

typedef struct allocators {
    allocator *v;
    size_t n, cap, last; /* last: the index that was found last, which is mostly asked for again */
    vp_map by_key;
} allocators;

static uint64_t key_of(uint32_t process, vp_sid name, int64_t device)
{
    return vp_mix((uint64_t)process << 32 | name) ^ (uint64_t)device;
}

static int find(allocator **out, allocators *all, uint32_t process, vp_sid name, int64_t device)
{
    const allocator *last = all->n ? &all->v[all->last] : NULL;
    if (last && last->process == process && last->name == name && last->device == device) {
        *out = &all->v[all->last];
        return 0;
    }
    uint64_t key = key_of(process, name, device);
    uint32_t i = vp_map_get(&all->by_key, key);
    if (i == VP_MAP_NONE) {
        VP_TRY(vp_grow(&all->v, &all->cap, all->n + 1, sizeof *all->v, UINT32_MAX - 1));
        i = (uint32_t)all->n;
        VP_TRY(vp_map_set(&all->by_key, key, i));
        all->v[all->n++] = (allocator){.process = process, .name = name, .device = device};
    }
    all->last = i;
    *out = &all->v[i];
    return 0;
}

static int64_t in_use(const trace_track *k, size_t e)
{
    return rd_memory_in_use(trace_attr(k, SINK_MEM_USED, e), trace_attr(k, SINK_MEM_FREE, e),
                            trace_attr(k, SINK_MEM_RESERVED, e));
}

/* The level of the curve after this event. */
static int64_t level_of(allocator *a, const trace_track *k, size_t e)
{
    int64_t used = in_use(k, e), delta = trace_attr(k, SINK_MEM_DELTA, e);
    if (used >= 0) {
        a->absolute = true;
        return a->running = used;
    }
    if (delta == SINK_NO_VALUE || __builtin_add_overflow(a->running, delta, &delta))
        return a->running;
    return a->running = delta;
}

/* What the allocator could hand out in all (analysis.md 6.2.1, F22): in use, reserved and free. */
static int64_t total_of(const trace_track *k, size_t e)
{
    int64_t used = in_use(k, e), free = trace_attr(k, SINK_MEM_FREE, e), sum;
    bool known = used >= 0 && free >= 0 && !__builtin_add_overflow(used, free, &sum);
    return known ? sum : VP_UNKNOWN;
}

/* How the level changed. TPU's events of freeing do not tell how much, but the level after them. */
static int64_t change(const allocator *a, const trace_track *k, size_t e, int64_t before)
{
    int64_t delta = trace_attr(k, SINK_MEM_DELTA, e);
    return delta != SINK_NO_VALUE || !a->events ? delta : a->running - before;
}

static void count_event(allocator *a, const trace_track *k, size_t e)
{
    int64_t before = a->running, level = level_of(a, k, e), delta = change(a, k, e, before);
    int64_t at = trace_aligned_start(k, e);
    if (!a->events || level > a->peak) {
        a->peak = level;
        a->peak_ps = at;
        a->total = total_of(k, e);
        a->stack = a->total >= 0 ? trace_attr(k, SINK_MEM_RESERVED, e) : 0;
    }
    if (!a->events)
        a->first_ps = at;
    a->events++;
    a->allocations += delta > 0;
    a->frees += delta < 0 && delta != SINK_NO_VALUE;
    a->least = level < a->least ? level : a->least;
    a->last_ps = at;
    a->end = level;
}

/* Second pass: keeps the highest level of each of equal slices of the allocator's time. */
static void sample_event(allocator *a, const trace_track *k, size_t e)
{
    int64_t level = level_of(a, k, e), at = trace_aligned_start(k, e);
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
    }
}

typedef void event_fn(allocator *a, const trace_track *k, size_t e);

static size_t next_of(const trace_track *k, size_t e)
{
    size_t delta = trace_column_next(k->attr[SINK_MEM_DELTA], e);
    size_t used = trace_column_next(k->attr[SINK_MEM_USED], e);
    return delta < used ? delta : used;
}

static int each_event(allocators *all, const trace *t, event_fn *fn)
{
    for (uint32_t i = 0; i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        for (size_t e = next_of(k, 0); e < k->count; e = next_of(k, e + 1)) {
            allocator *a;
            VP_TRY(find(&a, all, k->process, k->name, trace_attr(k, SINK_MEM_DEVICE, e)));
            fn(a, k, e);
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
        VP_NEED(a->sample_ps && a->sample);
    }
    return 0;
}

/* The name of the allocator. "GPU_4_bfc" tells its device; "memory" (TPU) and Kineto's "[memory]"
 * do not: the device is added where it is known. */
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

/* Who holds the peak, as far as that is known: a TPU's stack, which XLA reserves for a module's
 * temporaries, and the rest. */
static int name_holders(vp_memory *m, host_result *h, int64_t stack)
{
    if (stack <= 0 || stack > m->peak_bytes)
        return 0;
    m->top = vp_arena_zalloc(&h->arena, 2 * sizeof *m->top);
    VP_NEED(m->top);
    bool first = stack >= m->peak_bytes - stack;
    m->top[!first] =
        (vp_memory_item){.name = "stack", .bytes = stack, .count = VP_UNKNOWN, .step = VP_UNKNOWN};
    m->top[first] = (vp_memory_item){
        .name = "heap", .bytes = m->peak_bytes - stack, .count = VP_UNKNOWN, .step = VP_UNKNOWN};
    m->top_count = 2;
    return 0;
}

static int emit(host_result *h, const trace *t, const allocator *a)
{
    int64_t lift = a->absolute ? 0 : -a->least;
    vp_memory m = {.lifetime_peak_bytes = VP_UNKNOWN,
                   .reserved_bytes = VP_UNKNOWN,
                   .reserved_peak_bytes = VP_UNKNOWN,
                   .fragmented_bytes = VP_UNKNOWN,
                   .fragmented_of_bytes = VP_UNKNOWN,
                   .allocated_bytes = VP_UNKNOWN,
                   .out_of_memory = VP_UNKNOWN,
                   .steps = VP_UNKNOWN,
                   .step_allocations = VP_UNKNOWN,
                   .leak_steps = VP_UNKNOWN,
                   .peak_bytes = a->peak + lift,
                   .peak_start_ps = a->peak_ps - h->origin_ps,
                   .total_bytes = a->total,
                   .allocations = a->allocations,
                   .frees = a->frees,
                   .end_bytes = a->end + lift,
                   .sample_start_ps = a->sample_ps,
                   .sample_bytes = a->sample,
                   .sample_count = a->kept};
    for (size_t i = 0; i < a->kept; i++) {
        a->sample_ps[i] -= h->origin_ps;
        a->sample[i] += lift;
    }
    VP_TRY(name_holders(&m, h, a->stack));
    VP_TRY(name_allocator(&m.allocator, h, a, trace_str(t, a->name)));
    VP_TRY(vp_grow(&h->memory, &h->memory_cap, h->memory_count + 1, sizeof m, UINT32_MAX));
    h->memory[h->memory_count++] = m;
    return 0;
}

static int by_peak(const void *a, const void *b)
{
    const vp_memory *x = a, *y = b;
    if (x->peak_bytes != y->peak_bytes)
        return x->peak_bytes > y->peak_bytes ? -1 : 1;
    return strcmp(x->allocator, y->allocator);
}

static int collect(host_result *h, allocators *all, const trace *t)
{
    VP_TRY(each_event(all, t, count_event));
    VP_TRY(make_slices(all, &h->arena));
    VP_TRY(each_event(all, t, sample_event));
    for (size_t i = 0; i < all->n; i++)
        VP_TRY(emit(h, t, &all->v[i]));
    if (h->memory_count)
        qsort(h->memory, h->memory_count, sizeof *h->memory, by_peak);
    return 0;
}

int memory_collect(analysis *a)
{
    allocators all = {0};
    vp_map_init(&all.by_key);
    int rc = collect(a->h, &all, a->t);
    vp_map_free(&all.by_key);
    vp_free(all.v);
    return rc;
}
