#include "trace/capture/gpu_activity.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

int gpu_activity_new(gpu_activity **out, bool ring)
{
    gpu_activity *a = vp_calloc(1, sizeof *a);
    if (!a)
        return vp_fail(VP_ENOMEM, "out of memory");
    vp_arena_init(&a->arena);
    a->ring = ring;
    int rc = vp_intern_init(&a->names, &a->arena);
    if (rc < 0) {
        gpu_activity_free(a);
        return rc;
    }
    *out = a;
    return 0;
}

void gpu_activity_free(gpu_activity *a)
{
    if (!a)
        return;
    vp_intern_free(&a->names);
    vp_arena_free(&a->arena);
    vp_free(a->records);
    vp_free(a);
}

void gpu_activity_add(gpu_activity *a, const gpu_record *r)
{
    if (a->count < GPU_RECORDS_MAX &&
        vp_grow(&a->records, &a->cap, a->count + 1, sizeof *a->records, GPU_RECORDS_MAX) == 0) {
        a->records[a->count++] = *r;
        return;
    }
    a->dropped++;
    if (!a->ring || !a->count)
        return;
    a->records[a->next] = *r;
    a->next = a->next + 1 < a->count ? a->next + 1 : 0;
}

static int copy_name(gpu_activity *to, const gpu_activity *from, vp_sid *name)
{
    return vp_intern_put(&to->names, gpu_name(from, *name), name);
}

static int copy_records(gpu_activity *to, const gpu_activity *from, int64_t from_ns)
{
    for (size_t i = 0; i < from->count; i++) {
        gpu_record r = from->records[i];
        if (r.end_ns <= from_ns)
            continue;
        if (r.kind == GPU_KERNEL)
            VP_TRY(copy_name(to, from, &r.kernel.name));
        else if (r.kind == GPU_RUNTIME || r.kind == GPU_DRIVER)
            VP_TRY(copy_name(to, from, &r.call.name));
        VP_TRY(vp_grow(&to->records, &to->cap, to->count + 1, sizeof r, GPU_RECORDS_MAX));
        to->records[to->count++] = r;
    }
    return 0;
}

int gpu_activity_copy(gpu_activity **out, const gpu_activity *a, int64_t from_ns)
{
    gpu_activity *copy = NULL;
    int rc = gpu_activity_new(&copy, false);
    if (!copy)
        return rc;
    copy->dropped = a->dropped;
    copy->damaged = a->damaged;
    copy->outside = a->outside;
    copy->unknown = a->unknown;
    copy->status = a->status;
    memcpy(copy->why, a->why, sizeof copy->why);
    rc = copy_records(copy, a, from_ns);
    if (rc < 0) {
        gpu_activity_free(copy);
        return rc;
    }
    *out = copy;
    return 0;
}

static int by_time(const void *l, const void *r)
{
    const gpu_record *a = l, *b = r;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

/* Device work sets 1, a call of the runtime 2; correlations that nobody uses are 0. */
static bool collect_correlations(vp_map *seen, const gpu_activity *a)
{
    for (size_t i = 0; i < a->count; i++) {
        const gpu_record *r = &a->records[i];
        if (!r->correlation || r->kind == GPU_DRIVER || r->kind == GPU_OVERHEAD)
            continue;
        uint32_t have = vp_map_get(seen, r->correlation);
        uint32_t bit = r->kind == GPU_RUNTIME ? 2 : 1;
        if (vp_map_set(seen, r->correlation, (have == VP_MAP_NONE ? 0 : have) | bit) < 0)
            return false;
    }
    return true;
}

void gpu_activity_finish(gpu_activity *a)
{
    VP_CLEANUP(vp_map_free) vp_map seen;
    vp_map_init(&seen);
    size_t kept = 0;
    /* Without memory for it every call stays, which is more than is needed but not wrong. */
    bool known = collect_correlations(&seen, a);
    for (size_t i = 0; i < a->count; i++) {
        const gpu_record *r = &a->records[i];
        if (known && r->kind == GPU_DRIVER && vp_map_get(&seen, r->correlation) != 1)
            continue;
        a->records[kept++] = *r;
    }
    a->count = kept;
    a->next = 0;
    if (kept > 1)
        qsort(a->records, kept, sizeof *a->records, by_time);
}
