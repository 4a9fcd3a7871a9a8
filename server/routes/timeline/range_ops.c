#include "server/routes/timeline/range_ops.h"

#include <stdlib.h>

#include "trace/analyze/analyze.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

/* The rows of one device, while they are summed. */
typedef struct adder {
    range_ops *out;
    const tl_index *x;
    uint32_t group;
    vp_map rows; /* by label and category */
    vp_buf label;
} adder;

static int label_of(adder *a, const tl_kind *k)
{
    vp_str name = tl_text(a->x, k->name);
    a->label.n = 0;
    if (!name.n)
        return vp_buf_puts(&a->label, "(no name)");
    return a->group == RANGE_NO_GROUP ? vp_buf_str(&a->label, name)
                                      : analyze_put_label(&a->label, name);
}

/* The row for ops of this kind. */
static int range_row_of(range_op **out, adder *a, const tl_kind *k)
{
    range_ops *r = a->out;
    vp_sid label, category;
    VP_TRY(label_of(a, k));
    VP_TRY(vp_intern_put(&r->names, vp_buf_view(&a->label), &label));
    VP_TRY(vp_intern_put(&r->names,
                         a->group == RANGE_NO_GROUP ? VP_STR_NONE : tl_text(a->x, k->category),
                         &category));
    uint64_t key = (uint64_t)label << 32 | category;
    uint32_t at = vp_map_get(&a->rows, key);
    if (at == VP_MAP_NONE) {
        VP_TRY(vp_grow(&r->v, &r->cap, r->n + 1, sizeof *r->v, VP_INTERN_MAX));
        at = (uint32_t)r->n;
        VP_TRY(vp_map_set(&a->rows, key, at));
        r->v[r->n++] = (range_op){.group = a->group,
                                  .label = label,
                                  .category = category,
                                  .scope = tl_text(a->x, k->scope)};
    }
    *out = &r->v[at];
    return 0;
}

static int range_add_kind(adder *a, const tl_sum_of_kind *s)
{
    const tl_kind *k = &a->x->kinds[s->kind];
    range_op *row;
    VP_TRY(range_row_of(&row, a, k));
    row->names++;
    row->calls += s->calls;
    row->total_ps = tl_sum(row->total_ps, s->total_ps);
    row->self_ps = tl_sum(row->self_ps, s->self_ps);
    if (!vp_str_eq(row->scope, tl_text(a->x, k->scope)))
        row->scope = VP_STR_NONE;
    return 0;
}

static int range_add_sums(adder *a, const tl_range *sums)
{
    size_t first = a->out->n;
    for (size_t i = 0; i < sums->count; i++)
        VP_TRY(range_add_kind(a, &sums->kinds[i]));
    for (size_t i = first; i < a->out->n; i++)
        a->out->v[i].of_ps = sums->busy_ps;
    return 0;
}

/* The tracks of one device, or all. */
static int range_add_tracks(range_ops *out, const tl_index *x, uint32_t group,
                            const uint32_t *tracks, size_t count, const int64_t range[2])
{
    adder a = {.out = out, .x = x, .group = group};
    tl_range sums;
    VP_TRY(tl_range_of(&sums, x, tracks, count, range[0], range[1]));
    out->tracks += sums.tracks;
    out->events += sums.events;
    out->busy_ps = tl_sum(out->busy_ps, sums.busy_ps);
    out->covered_ps = tl_sum(out->covered_ps, sums.covered_ps);
    vp_map_init(&a.rows);
    vp_buf_init(&a.label, VP_JSON_EVENT_MAX);
    int rc = range_add_sums(&a, &sums);
    vp_map_free(&a.rows);
    vp_buf_free(&a.label);
    tl_range_free(&sums);
    return rc;
}

static int by_range_op_self(const void *a, const void *b)
{
    const range_op *x = a, *y = b;
    if (x->self_ps != y->self_ps)
        return x->self_ps > y->self_ps ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    return x->category < y->category ? -1 : x->category > y->category;
}

/* A track and its device. */
typedef struct owned {
    uint32_t group, track;
} owned;

static int by_owner_group(const void *a, const void *b)
{
    const owned *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

static owned *owners_of(const tl_index *x, const uint32_t *tracks, size_t count)
{
    owned *all = vp_calloc(count + 1, sizeof *all);
    for (size_t i = 0; all && i < count; i++) {
        uint32_t group = x->tracks[tracks[i]].group;
        all[i] = (owned){x->groups[group].has_ops ? group : RANGE_NO_GROUP, tracks[i]};
    }
    if (all)
        qsort(all, count, sizeof *all, by_owner_group);
    return all;
}

static int range_add_groups(range_ops *out, const tl_index *x, const uint32_t *tracks, size_t count,
                            const int64_t range[2])
{
    VP_CLEANUP(vp_free_ptr) owned *all = owners_of(x, tracks, count);
    VP_CLEANUP(vp_free_ptr) uint32_t *some = vp_calloc(count + 1, sizeof *some);
    VP_NEED(all && some);
    for (size_t i = 0, n; i < count; i += n) {
        for (n = 0; i + n < count && all[i + n].group == all[i].group; n++)
            some[n] = all[i + n].track;
        VP_TRY(range_add_tracks(out, x, all[i].group, some, n, range));
    }
    return 0;
}

int range_ops_of(range_ops *out, const tl_index *x, const uint32_t *tracks, size_t count,
                 int64_t from_ps, int64_t until_ps)
{
    *out = (range_ops){0};
    vp_arena_init(&out->arena);
    VP_TRY(vp_intern_init(&out->names, &out->arena));
    VP_TRY(range_add_groups(out, x, tracks, count, (int64_t[]){from_ps, until_ps}));
    if (out->n)
        qsort(out->v, out->n, sizeof *out->v, by_range_op_self);
    return 0;
}

void range_ops_free(range_ops *r)
{
    vp_intern_free(&r->names);
    vp_arena_free(&r->arena);
    vp_free(r->v);
}
