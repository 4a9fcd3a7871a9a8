#include "trace/capture/gpu/gpu_activity.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

int gpu_activity_new(gpu_activity **out, bool ring)
{
    gpu_activity *a = vp_calloc(1, sizeof *a);
    VP_NEED(a);
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

static bool is_host_call(const gpu_record *r)
{
    return r->kind == GPU_RUNTIME || r->kind == GPU_DRIVER;
}

static bool activity_append(gpu_activity *a, const gpu_record *r)
{
    bool call = is_host_call(r);
    if (a->kept[call] == GPU_RECORDS_MAX ||
        vp_grow(&a->records, &a->cap, a->count + 1, sizeof *a->records, 2 * GPU_RECORDS_MAX) < 0)
        return false;
    a->records[a->count++] = *r;
    a->kept[call]++;
    return true;
}

static void replace_oldest(gpu_activity *a, const gpu_record *r)
{
    bool call = is_host_call(r);
    if (!a->kept[call])
        return;
    size_t at = a->next[call] < a->count ? a->next[call] : 0;
    while (is_host_call(&a->records[at]) != call)
        at = at + 1 < a->count ? at + 1 : 0;
    a->records[at] = *r;
    a->next[call] = at + 1;
}

/* Users of each correlation: 1 device work, 2 a runtime call, 3 both. */
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

/* Drops unneeded driver calls. A call that began after `since` may still launch work that the
 * device has not finished. */
static void activity_drop_unlinked(gpu_activity *a, int64_t since)
{
    VP_CLEANUP(vp_map_free) vp_map seen;
    vp_map_init(&seen);
    /* If out of memory, all calls are kept, which is correct but needs more space. */
    if (!collect_correlations(&seen, a))
        return;
    size_t kept = 0, next[2] = {0, 0};
    for (size_t i = 0; i < a->count; i++) {
        const gpu_record *r = &a->records[i];
        uint32_t what = r->kind == GPU_DRIVER ? vp_map_get(&seen, r->correlation) : 1;
        for (int k = 0; k < 2; k++)
            if (i == a->next[k])
                next[k] = kept;
        if (what == 1 || (what == VP_MAP_NONE && r->start_ns >= since))
            a->records[kept++] = *r;
        else
            a->kept[1]--;
    }
    a->count = kept;
    memcpy(a->next, next, sizeof next);
}

/* A time in the middle of the driver calls: work of earlier calls is finished by now. */
static int64_t middle_call_time(const gpu_activity *a)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < a->count; i++)
        if (a->records[i].kind == GPU_DRIVER) {
            first = a->records[i].start_ns < first ? a->records[i].start_ns : first;
            last = a->records[i].start_ns > last ? a->records[i].start_ns : last;
        }
    return first < last ? first + (last - first) / 2 : INT64_MIN;
}

static void activity_make_room(gpu_activity *a)
{
    size_t before = a->kept[1];
    if (a->patience) {
        a->patience--;
        return;
    }
    activity_drop_unlinked(a, middle_call_time(a));
    a->patience = before - a->kept[1] < GPU_RECORDS_MAX / 16 ? GPU_RECORDS_MAX / 16 : 0;
}

void gpu_activity_add(gpu_activity *a, const gpu_record *r)
{
    if (is_host_call(r) && a->kept[1] == GPU_RECORDS_MAX)
        activity_make_room(a);
    if (activity_append(a, r))
        return;
    a->dropped++;
    if (a->ring)
        replace_oldest(a, r);
}

static int copy_gpu_name(gpu_activity *to, const gpu_activity *from, vp_sid *name)
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
            VP_TRY(copy_gpu_name(to, from, &r.kernel.name));
        else if (r.kind == GPU_RUNTIME || r.kind == GPU_DRIVER)
            VP_TRY(copy_gpu_name(to, from, &r.call.name));
        if (!activity_append(to, &r))
            return vp_no_memory();
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

static int by_record_time(const void *l, const void *r)
{
    const gpu_record *a = l, *b = r;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

void gpu_activity_finish(gpu_activity *a)
{
    activity_drop_unlinked(a, INT64_MAX);
    a->next[0] = a->next[1] = 0;
    if (a->count > 1)
        qsort(a->records, a->count, sizeof *a->records, by_record_time);
}
