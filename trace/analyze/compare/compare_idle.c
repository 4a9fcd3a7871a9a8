/* Idle time of a step by host activity. Labels cover the whole capture: each is scaled to the idle
 * time of its cause in the span. */
#include <stdlib.h>
#include <string.h>

#include "trace/analyze/compare/compare_parts.h"
#include "trace/base/err.h"
#include "trace/base/hash.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/base/order.h"
#include "trace/base/str.h"
#include "trace/links/user_frames.h"

/* Activities that differ by less than this share of a step are left out. */
#define SHOWN_PART 200
#define IDLE_ROWS_MAX 100u

static uint64_t idle_label_key(const vp_idle_label *x)
{
    uint64_t key = vp_hash(&x->cause, sizeof x->cause, 3);
    key = x->label ? vp_hash(x->label, strlen(x->label), key) : key;
    return x->user ? vp_hash(x->user, strlen(x->user), ~key) : key;
}

/* The label's time in the span, as its share of the mean over all devices. */
static int64_t label_in_span(const cmp_side *s, const cmp_classes *of, const vp_idle_label *x)
{
    const vp_device *d = &s->r->devices[x->device];
    int64_t span = of[x->device].cause[x->cause], whole = d->cause_ps[x->cause];
    if (span <= 0 || whole <= 0)
        return 0;
    return cmp_mean((__int128)x->total_ps * span / whole, (__int128)s->r->device_count);
}

/* "$train.py:37 train" as "train (train.py:37)"; other texts unchanged. */
static const char *frame_text(comparing *k, const char *frame)
{
    vp_str file, line, function;
    if (!frame || !links_parse_frame(vp_str_of(frame), &file, &line, &function))
        return cmp_text(k, frame);
    function = vp_str_head(function, 150);
    return cmp_print(k, "%.*s (%.*s:%.*s)", VP_STR_ARG(function), VP_STR_ARG(file),
                     VP_STR_ARG(line));
}

typedef struct idle_join {
    comparing *k;
    vp_compared_idle *v;
    size_t n;
    vp_map rows;
} idle_join;

static int add_idle_side(idle_join *j, const cmp_side *s, bool of_b)
{
    VP_CLEANUP(vp_free_ptr) cmp_classes *of = NULL;
    VP_TRY(cmp_classes_of(&of, s));
    for (size_t i = 0; i < s->r->idle_label_count; i++) {
        const vp_idle_label *x = &s->r->idle_labels[i];
        if (x->device >= s->r->device_count || (!x->label && !x->user))
            continue;
        uint64_t key = idle_label_key(x);
        uint32_t row = vp_map_get(&j->rows, key);
        if (row == VP_MAP_NONE) {
            row = (uint32_t)j->n++;
            VP_TRY(vp_map_set(&j->rows, key, row));
            j->v[row] = (vp_compared_idle){.cause = x->cause,
                                           .label = frame_text(j->k, x->label ? x->label : x->user),
                                           .user = frame_text(j->k, x->user),
                                           .thread = cmp_text(j->k, x->thread)};
        }
        vp_delta *d = &j->v[row].total;
        *(of_b ? &d->b_ps : &d->a_ps) += label_in_span(s, of, x);
    }
    return 0;
}

static int by_idle_delta(const void *pa, const void *pb)
{
    const vp_compared_idle *a = pa, *b = pb;
    int order = vp_order(cmp_size(&b->total), cmp_size(&a->total));
    if (!order)
        order = vp_order(a->cause, b->cause);
    return order ? order : strcmp(a->label, b->label);
}

static void keep_changed_idle(idle_join *j)
{
    vp_comparison *c = j->k->c;
    int64_t span = c->step.a_ps > c->step.b_ps ? c->step.a_ps : c->step.b_ps;
    size_t kept = 0;
    for (size_t i = 0; i < j->n; i++) {
        vp_delta *d = &j->v[i].total;
        *d = cmp_delta(d->a_ps, d->b_ps);
        if (cmp_size(d) && cmp_size(d) >= span / SHOWN_PART && j->v[i].label)
            j->v[kept++] = j->v[i];
    }
    qsort(j->v, kept, sizeof *j->v, by_idle_delta);
    c->idle = j->v;
    c->idle_count = kept < IDLE_ROWS_MAX ? kept : IDLE_ROWS_MAX;
}

int cmp_idle(comparing *k)
{
    idle_join j = {.k = k};
    size_t most = k->a.r->idle_label_count + k->b.r->idle_label_count;
    j.v = vp_arena_zalloc(k->arena, most * sizeof *j.v);
    VP_NEED(j.v);
    vp_map_init(&j.rows);
    int rc = add_idle_side(&j, &k->a, false);
    if (rc >= 0)
        rc = add_idle_side(&j, &k->b, true);
    if (rc >= 0)
        keep_changed_idle(&j);
    vp_map_free(&j.rows);
    return rc;
}
