#include "trace/analyze/memory/dynamic_snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/analyze/memory/curve.h"
#include "trace/analyze/memory/holders.h"
#include "trace/analyze/memory/rows.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/sums.h"
#include "trace/read/pickle/torch_snapshot.h"

/* A block in use at the time of the snapshot. */
typedef struct block {
    uint64_t address;
    int64_t bytes;
    ts_site site;
} block;

/* Levels are relative to the first entry of the history: the memory held before it is known only at
 * the end, from the blocks. */
typedef struct device {
    bool any;
    int64_t reserved, allocated; /* at the time of the snapshot; allocated as requested */
    int64_t fragmented;          /* free memory in segments that are partly in use */
    block *blocks;
    size_t block_count, block_cap;
    int64_t entries, allocations, frees, failed, taken;
    int64_t level, peak, peak_us, grown, grown_at_peak, grown_most;
    int64_t first_us;
    mem_curve curve;
    mem_holders holders; /* by site */
} device;

typedef struct reading {
    device *v;
    size_t n, cap;
    block *blocks; /* of the current segment, which has its device last */
    size_t block_count, block_cap;
    int64_t *step_us; /* where steps begin */
    size_t step_count, step_cap;
    ts_snapshot *snapshot;
    vp_arena *arena;
} reading;

static int device_at(device **out, reading *r, uint32_t i)
{
    VP_TRY(vp_grow(&r->v, &r->cap, (size_t)i + 1, sizeof *r->v, TS_DEVICES_MAX));
    while (r->n <= i)
        memset(&r->v[r->n++], 0, sizeof *r->v);
    *out = &r->v[i];
    (*out)->any = true;
    return 0;
}

/* ---- What it says ---- */

static int on_block(void *ctx, const ts_block *b)
{
    reading *r = ctx;
    if (b->state != TS_ACTIVE)
        return 0;
    VP_TRY(vp_grow(&r->blocks, &r->block_cap, r->block_count + 1, sizeof *r->blocks, UINT32_MAX));
    r->blocks[r->block_count++] = (block){(uint64_t)b->address, b->requested, b->site};
    return 0;
}

static int snapshot_on_segment(void *ctx, const ts_segment *s)
{
    reading *r = ctx;
    device *d;
    VP_TRY(device_at(&d, r, s->device));
    d->reserved = vp_add_within(d->reserved, s->total);
    if (s->has_active)
        d->fragmented = vp_add_within(d->fragmented, s->inactive);
    VP_TRY(vp_grow(&d->blocks, &d->block_cap, d->block_count + r->block_count, sizeof *d->blocks,
                   UINT32_MAX));
    for (size_t i = 0; i < r->block_count; i++) {
        d->allocated = vp_add_within(d->allocated, r->blocks[i].bytes);
        d->blocks[d->block_count++] = r->blocks[i];
    }
    r->block_count = 0;
    return 0;
}

static int device_take_entry(device *d, const ts_entry *e)
{
    d->allocations++;
    d->taken = vp_add_within(d->taken, e->size);
    d->level = vp_add_within(d->level, e->size);
    VP_TRY(mem_holders_take(&d->holders, (uint64_t)e->address, e->size, e->site, e->unix_us));
    if (d->level > d->peak) {
        d->peak = d->level;
        d->peak_us = e->unix_us;
        d->grown_at_peak = d->grown;
        mem_holders_at_peak(&d->holders);
    }
    return 0;
}

static void device_grow_level(device *d, int64_t bytes)
{
    d->grown = vp_add_within(d->grown, bytes);
    d->grown_most = d->grown > d->grown_most ? d->grown : d->grown_most;
}

static int on_entry(void *ctx, const ts_entry *e)
{
    reading *r = ctx;
    device *d;
    VP_TRY(device_at(&d, r, e->device));
    if (!d->entries++) {
        d->first_us = e->unix_us;
        d->peak_us = -1;
    }
    switch (e->action) {
    case TS_ALLOC:
        VP_TRY(device_take_entry(d, e));
        break;
    case TS_FREE_REQUESTED:
        d->frees++;
        d->level = vp_sub_within(d->level, e->size);
        mem_holders_give(&d->holders, (uint64_t)e->address);
        break;
    case TS_SEGMENT_ALLOC:
        device_grow_level(d, e->size);
        break;
    case TS_SEGMENT_FREE:
        device_grow_level(d, -e->size);
        break;
    case TS_OOM:
        d->failed++;
        break;
    case TS_FREE_COMPLETED:
    case TS_OTHER:
        break;
    }
    if (e->unix_us >= 0)
        mem_curve_add(&d->curve, e->unix_us, d->level, d->grown);
    return 0;
}

/* PyTorch's profiler marks steps; without it, each step of an optimizer ends one. */
static bool is_step_note(vp_str name)
{
    return vp_str_starts(name, VP_STR("ProfilerStep#")) ||
           vp_str_starts(name, VP_STR("Optimizer.step#"));
}

static int on_note(void *ctx, const ts_note *n)
{
    reading *r = ctx;
    if (!n->start || !is_step_note(n->name))
        return 0;
    if (r->step_count && n->unix_us <= r->step_us[r->step_count - 1])
        return 0;
    VP_TRY(vp_grow(&r->step_us, &r->step_cap, r->step_count + 1, sizeof *r->step_us, UINT32_MAX));
    r->step_us[r->step_count++] = n->unix_us;
    return 0;
}

/* ---- What follows from it ---- */

static int name_snapshot_site(reading *r, ts_site site, const char **name, const char **source)
{
    vp_str function, file;
    int64_t line;
    char text[400];
    ts_where(r->snapshot, site, &function, &file, &line);
    *source = NULL;
    if (!function.n && !file.n)
        function = VP_STR("(no stack)");
    *name = vp_arena_strndup(r->arena, function.p, function.n);
    VP_NEED(*name);
    if (!file.n || vp_str_eq(file, VP_STR("??")))
        return 0;
    int n = snprintf(text, sizeof text, "%.*s:%lld", VP_STR_CUT(file, 300), (long long)line);
    *source = vp_arena_strndup(r->arena, text, (size_t)n);
    VP_NEED(*source);
    return 0;
}

/* Blocks from before the history that still exist were held at its peak, too. */
static int add_old_blocks(device *d)
{
    for (size_t i = 0; i < d->block_count; i++) {
        const block *b = &d->blocks[i];
        if (mem_holders_find(&d->holders, b->address))
            continue;
        VP_TRY(mem_holders_room(&d->holders, b->site));
        mem_holder *h = &d->holders.v[b->site];
        h->peak_bytes = vp_add_within(h->peak_bytes, b->bytes);
        h->peak_count++;
    }
    return 0;
}

static int put_snapshot_holders(reading *r, device *d, vp_memory *m)
{
    mem_rows rows;
    VP_TRY(add_old_blocks(d));
    VP_TRY(mem_rows_new(&rows, d->holders.n));
    int rc = 0;
    for (uint32_t i = 0; i < d->holders.n; i++)
        mem_rows_add(&rows, i, d->holders.v[i].peak_bytes, d->holders.v[i].peak_count);
    mem_rows_choose(&rows);
    for (size_t i = 0; rc >= 0 && i < rows.n; i++)
        rc = name_snapshot_site(r, rows.v[i].who, &rows.v[i].item.name, &rows.v[i].item.source);
    if (rc >= 0)
        rc = mem_rows_give(m, r->arena, &rows, "(allocated before the history)");
    mem_rows_free(&rows);
    return rc;
}

static int put_snapshot_leaks(reading *r, device *d, vp_memory *m)
{
    mem_steps steps = {r->step_us, r->step_us + 1, r->step_count ? r->step_count - 1 : 0};
    mem_leak *v;
    size_t n;
    m->leak_steps = VP_UNKNOWN;
    if (!steps.n || !d->entries)
        return 0;
    VP_TRY(mem_holders_leaks(&v, &n, &m->leak_steps, &d->holders, &steps, NULL));
    n = n < MEM_ROWS_MAX ? n : MEM_ROWS_MAX;
    m->leaks = vp_arena_zalloc(r->arena, (n + 1) * sizeof *m->leaks);
    int rc = m->leaks ? 0 : vp_no_memory();
    for (; rc >= 0 && m->leak_count < n; m->leak_count++) {
        const mem_leak *from = &v[m->leak_count];
        vp_leak *to = &m->leaks[m->leak_count];
        *to = (vp_leak){.bytes = from->bytes, .count = from->count, .steps = from->steps};
        rc = name_snapshot_site(r, from->holder, &to->name, &to->source);
    }
    vp_free(v);
    return rc;
}

static int64_t at_least_0(int64_t v)
{
    return v > 0 ? v : 0;
}

/* base, reserved: at the start of the history. */
static int put_snapshot_curve(reading *r, device *d, vp_memory *m, int64_t base, int64_t reserved,
                              int64_t first_us)
{
    mem_curve_end(&d->curve);
    size_t size = (d->curve.n + 1) * sizeof(int64_t);
    m->sample_start_ps = vp_arena_zalloc(r->arena, size);
    m->sample_bytes = vp_arena_zalloc(r->arena, size);
    m->sample_reserved_bytes = vp_arena_zalloc(r->arena, size);
    VP_NEED(m->sample_start_ps && m->sample_bytes && m->sample_reserved_bytes);
    for (size_t i = 0; i < d->curve.n; i++) {
        m->sample_start_ps[i] = mem_us_to_ps(d->curve.v[i].at - first_us);
        m->sample_bytes[i] = at_least_0(vp_add_within(base, d->curve.v[i].level));
        m->sample_reserved_bytes[i] = at_least_0(vp_add_within(reserved, d->curve.v[i].beside));
    }
    m->sample_count = m->sample_reserved_count = d->curve.n;
    return 0;
}

/* The levels at the start of the history: those at its end, minus its changes. */
static int put_snapshot_device(reading *r, uint32_t i, vp_memory *m, const char *file,
                               int64_t first_us)
{
    device *d = &r->v[i];
    char name[340];
    int64_t base = at_least_0(vp_sub_within(d->allocated, d->level));
    int64_t reserved = at_least_0(vp_sub_within(d->reserved, d->grown));
    bool history = d->entries > 0;
    int n = snprintf(name, sizeof name, "%.300s GPU %u", file, i);
    *m = (vp_memory){.peak_bytes = vp_add_within(base, d->peak),
                     .peak_start_ps = VP_NO_TIME,
                     .total_bytes = VP_UNKNOWN,
                     .lifetime_peak_bytes = VP_UNKNOWN,
                     .reserved_bytes = vp_add_within(reserved, d->grown_at_peak),
                     .reserved_peak_bytes = vp_add_within(reserved, d->grown_most),
                     .fragmented_bytes = d->fragmented,
                     .fragmented_of_bytes = d->reserved,
                     .allocations = history ? d->allocations : VP_UNKNOWN,
                     .frees = history ? d->frees : VP_UNKNOWN,
                     .end_bytes = at_least_0(vp_add_within(base, d->level)),
                     .allocated_bytes = history ? d->taken : VP_UNKNOWN,
                     .out_of_memory = history ? d->failed : VP_UNKNOWN,
                     .steps = VP_UNKNOWN,
                     .step_allocations = VP_UNKNOWN};
    if (history && d->peak_us >= 0)
        m->peak_start_ps = mem_us_to_ps(d->peak_us - first_us);
    m->allocator = vp_arena_strndup(r->arena, name, (size_t)n);
    VP_NEED(m->allocator);
    mem_holders_end(&d->holders);
    VP_TRY(put_snapshot_holders(r, d, m));
    VP_TRY(put_snapshot_leaks(r, d, m));
    return put_snapshot_curve(r, d, m, base, reserved, first_us);
}

static int64_t first_history_us(const reading *r)
{
    int64_t first = -1;
    for (size_t i = 0; i < r->n; i++)
        if (r->v[i].entries && r->v[i].first_us >= 0 && (first < 0 || r->v[i].first_us < first))
            first = r->v[i].first_us;
    return first;
}

static int put_snapshot_devices(mem_snapshot *out, reading *r, const char *file)
{
    int64_t first = first_history_us(r);
    out->first_unix_ns = first >= 0 && first <= INT64_MAX / 1000 ? first * 1000 : VP_UNKNOWN;
    out->cut_at = ts_cut_at(r->snapshot);
    out->odd = ts_odd(r->snapshot);
    out->rows = vp_arena_zalloc(r->arena, (r->n + 1) * sizeof *out->rows);
    VP_NEED(out->rows);
    for (uint32_t i = 0; i < r->n; i++)
        if (r->v[i].any)
            VP_TRY(put_snapshot_device(r, i, &out->rows[out->row_count++], file, first));
    return 0;
}

static void drop_snapshot_reading(reading *r)
{
    for (size_t i = 0; i < r->n; i++) {
        mem_holders_free(&r->v[i].holders);
        vp_free(r->v[i].blocks);
    }
    vp_free(r->v);
    vp_free(r->blocks);
    vp_free(r->step_us);
    ts_free(r->snapshot);
}

int mem_snapshot_read(mem_snapshot *out, vp_arena *arena, rd_stream *in, const char *file)
{
    reading r = {.arena = arena};
    const ts_sink sink = {&r, on_block, snapshot_on_segment, on_entry, on_note};
    *out = (mem_snapshot){.first_unix_ns = VP_UNKNOWN, .cut_at = -1};
    int rc = ts_read(&r.snapshot, in, &sink);
    if (rc >= 0)
        rc = put_snapshot_devices(out, &r, file);
    drop_snapshot_reading(&r);
    return rc;
}
