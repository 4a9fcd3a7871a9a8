#include "trace/report/flame/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/base/str.h"

#define PS_PER_NS 1000
/* The scope of ops without one, among those with one (scopes_collect). */
#define NOWHERE "(no scope)"

static uint64_t stack_path_key(const char *path)
{
    return vp_hash(path, strlen(path), 11);
}

/* Sorts equal stacks next to each other. */
static int by_frames(const void *a, const void *b)
{
    const flame_stack *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->scope != y->scope)
        return x->scope < y->scope ? -1 : 1;
    if (!x->op || !y->op)
        return (x->op != NULL) - (y->op != NULL);
    return strcmp(x->op, y->op);
}

/* In output order. */
static int by_stack_time(const void *a, const void *b)
{
    const flame_stack *x = a, *y = b;
    if (x->device != y->device || x->scope != y->scope || x->self_ps == y->self_ps)
        return by_frames(a, b);
    return x->self_ps > y->self_ps ? -1 : 1;
}

/* A report from a file may contain any time. */
static void add_saturated_ns(int64_t *sum, int64_t more)
{
    if (__builtin_add_overflow(*sum, more, sum))
        *sum = INT64_MAX;
}

static void join_equal(flame_stacks *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (kept && !by_frames(&s->v[kept - 1], &s->v[i]))
            add_saturated_ns(&s->v[kept - 1].self_ps, s->v[i].self_ps);
        else
            s->v[kept++] = s->v[i];
    }
    s->n = kept;
}

static flame_stack stack_of(const vp_report *r, const vp_op *o, const vp_map *by_path)
{
    uint32_t scope = vp_map_get(by_path, stack_path_key(o->scope ? o->scope : NOWHERE));
    bool is_zone = !r->has_devices && o->scope && scope != VP_MAP_NONE;
    return (flame_stack){.device = o->device,
                         .scope = scope == VP_MAP_NONE ? FLAME_NO_SCOPE : scope,
                         .op = is_zone   ? NULL
                               : o->name ? o->name
                                         : "",
                         .op_class = o->op_class,
                         .self_ps = o->self_ps};
}

static bool is_wanted_stack_device(const vp_report *r, uint32_t device, const char *end)
{
    return !end || vp_str_ends(vp_str_of(r->devices[device].name), vp_str_of(end));
}

static int collect_stacks(flame_stacks *s, const char *device)
{
    const vp_report *r = s->r;
    vp_map by_path;
    int rc = 0;
    vp_map_init(&by_path);
    for (size_t i = 0; rc >= 0 && i < r->scope_count; i++)
        rc = vp_map_set(&by_path, stack_path_key(r->scopes[i].path), (uint32_t)i);
    for (size_t i = 0; rc >= 0 && i < r->op_count; i++)
        if (r->ops[i].self_ps > 0 && is_wanted_stack_device(r, r->ops[i].device, device))
            s->v[s->n++] = stack_of(r, &r->ops[i], &by_path);
    vp_map_free(&by_path);
    return rc;
}

/* ---- Whole nanoseconds ---- */

static int by_loss(const void *a, const void *b, void *stacks)
{
    const flame_stack *v = stacks;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    int64_t x = v[i].self_ps % PS_PER_NS, y = v[j].self_ps % PS_PER_NS;
    return x != y ? (x > y ? -1 : 1) : (i > j) - (i < j);
}

/* The n stacks of one device; order: a buffer for n entries. */
static void round_device(flame_stack *v, size_t n, uint32_t *order)
{
    int64_t all_ps = 0, given = 0;
    for (size_t i = 0; i < n; i++) {
        order[i] = (uint32_t)i;
        add_saturated_ns(&all_ps, v[i].self_ps);
        v[i].ns = v[i].self_ps / PS_PER_NS;
        add_saturated_ns(&given, v[i].ns);
    }
    int64_t rest = all_ps / PS_PER_NS + (all_ps % PS_PER_NS >= PS_PER_NS / 2) - given;
    qsort_r(order, n, sizeof *order, by_loss, v);
    for (size_t i = 0; i < n && rest > 0; i++, rest--)
        v[order[i]].ns++;
}

static int round_all(flame_stacks *s)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *order = vp_realloc_array(NULL, s->n, sizeof *order);
    VP_NEED(order);
    for (size_t from = 0, i = 0; i <= s->n; i++) {
        if (i < s->n && s->v[i].device == s->v[from].device)
            continue;
        round_device(s->v + from, i - from, order);
        from = i;
    }
    return 0;
}

/* join: devices are not distinguished. */
static int make_stacks(flame_stacks *s, const vp_report *r, const char *device, bool join)
{
    *s = (flame_stacks){.r = r, .v = vp_calloc(r->op_count + 1, sizeof *s->v)};
    VP_NEED(s->v);
    VP_TRY(collect_stacks(s, device));
    for (size_t i = 1; join && i < s->n; i++)
        s->v[i].device = s->v[0].device;
    qsort(s->v, s->n, sizeof *s->v, by_frames);
    join_equal(s);
    qsort(s->v, s->n, sizeof *s->v, by_stack_time);
    if (join)
        return 0;
    if (!s->n)
        return vp_fail(VP_EEMPTY, "%s has no op with a duration",
                       r->session_name ? r->session_name : "the run");
    return round_all(s);
}

static int hand_over_stacks(flame_stacks *out, flame_stacks *s, int rc)
{
    if (rc < 0)
        flame_stacks_free(s);
    else
        *out = *s;
    return rc;
}

int flame_stacks_of(flame_stacks *out, const vp_report *r, const char *device)
{
    flame_stacks s;
    return hand_over_stacks(out, &s, make_stacks(&s, r, device, false));
}

int flame_stacks_joined(flame_stacks *out, const vp_report *r)
{
    flame_stacks s;
    return hand_over_stacks(out, &s, make_stacks(&s, r, NULL, true));
}

void flame_stacks_free(flame_stacks *s)
{
    vp_free(s->v);
    s->v = NULL;
    s->n = 0;
}

int flame_frames_of(flame_frames *f, const flame_stacks *s, const flame_stack *k)
{
    f->n = 0;
    for (uint32_t i = k->scope; i != FLAME_NO_SCOPE; i = s->r->scopes[i].parent) {
        VP_TRY(vp_grow(&f->v, &f->cap, f->n + 1, sizeof *f->v, UINT32_MAX));
        f->v[f->n++] = i;
    }
    return 0;
}
