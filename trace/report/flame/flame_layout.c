#include "trace/report/flame/flame_layout.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/report/labels/numbers.h"

#define NO_BOX UINT32_MAX

/* State of a node: [from, from + weight) of the picture, of which its children took `used`. */
typedef struct placed {
    int64_t from, weight, used;
    uint32_t row, box;
    bool shown, joined;
} placed;

typedef struct layout {
    const flame_node *nodes;
    placed *v;
    size_t n;
    int64_t all;
} layout;

static bool is_root_node(const layout *t, size_t i)
{
    return t->nodes[i].parent >= i;
}

static int64_t sum_roots(const layout *t)
{
    int64_t all = 0;
    for (size_t i = 0; i < t->n; i++)
        if (is_root_node(t, i) && t->nodes[i].weight > 0 &&
            __builtin_add_overflow(all, t->nodes[i].weight, &all))
            return INT64_MAX;
    return all;
}

/* Assigns each node its range within its parent. */
static void place_flame_nodes(layout *t)
{
    placed whole = {.weight = t->all};
    for (size_t i = 0; i < t->n; i++) {
        placed *p = is_root_node(t, i) ? &whole : &t->v[t->nodes[i].parent], *x = &t->v[i];
        int64_t room = p->weight - p->used, weight = t->nodes[i].weight;
        x->weight = weight < 0 ? 0 : weight < room ? weight : room;
        x->from = p->from + p->used;
        p->used += x->weight;
        x->joined =
            t->nodes[i].joined && !is_root_node(t, i) && x->weight && x->weight == p->weight;
        x->row = is_root_node(t, i) ? 0 : p->row + !x->joined;
        x->box = NO_BOX;
    }
}

static bool may_show(const layout *t, size_t i)
{
    const placed *x = &t->v[i];
    return x->weight > 0 && x->row < VP_FLAME_ROWS_MAX &&
           (__int128)x->weight * FLAME_PARTS_MAX >= t->all &&
           (is_root_node(t, i) || t->v[t->nodes[i].parent].shown);
}

/* The widest first; ties: the parent before its child. */
static int by_width(const void *a, const void *b, void *placed_ptr)
{
    const placed *v = placed_ptr;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    if (v[i].weight != v[j].weight)
        return v[i].weight > v[j].weight ? -1 : 1;
    return (i > j) - (i < j);
}

/* Marks the visible nodes: all candidates, or the widest of them. */
static int choose_shown_nodes(layout *t)
{
    size_t n = 0;
    VP_CLEANUP(vp_free_ptr) uint32_t *order = vp_realloc_array(NULL, t->n + 1, sizeof *order);
    VP_NEED(order);
    for (size_t i = 0; i < t->n; i++) {
        t->v[i].shown = may_show(t, i);
        if (t->v[i].shown && !t->v[i].joined)
            order[n++] = (uint32_t)i;
    }
    if (n <= VP_FLAME_FRAMES_MAX)
        return 0;
    qsort_r(order, n, sizeof *order, by_width, t->v);
    for (size_t i = VP_FLAME_FRAMES_MAX; i < n; i++)
        t->v[order[i]].shown = false;
    for (size_t i = 0; i < t->n; i++) /* nodes merged into one that is not visible */
        t->v[i].shown = t->v[i].shown && (is_root_node(t, i) || t->v[t->nodes[i].parent].shown);
    return 0;
}

static int64_t hundredths_of_all(const layout *t, int64_t at)
{
    return (int64_t)((__int128)at * REP_PERCENT_ALL / t->all);
}

static void add_box(flame_layout *out, layout *t, uint32_t i)
{
    placed *x = &t->v[i];
    if (x->joined) {
        x->box = t->v[t->nodes[i].parent].box;
        out->v[x->box].last = i;
        return;
    }
    int64_t left = hundredths_of_all(t, x->from), right = hundredths_of_all(t, x->from + x->weight);
    x->box = (uint32_t)out->n;
    out->v[out->n++] = (flame_box){i, i, x->row, left, right - left};
    out->rows = x->row >= out->rows ? x->row + 1 : out->rows;
}

static int make_boxes(flame_layout *out, layout *t)
{
    out->v = vp_calloc(VP_FLAME_FRAMES_MAX, sizeof *out->v);
    VP_NEED(out->v);
    for (size_t i = 0; i < t->n; i++) {
        if (t->v[i].shown) {
            add_box(out, t, (uint32_t)i);
        } else if (t->v[i].weight) {
            out->hidden++;
            if (is_root_node(t, i) || t->v[t->nodes[i].parent].shown)
                out->hidden_weight += t->v[i].weight;
        }
    }
    return 0;
}

int flame_layout_of(flame_layout *out, const flame_node *nodes, size_t n, int64_t whole)
{
    VP_CLEANUP(vp_free_ptr) placed *v = vp_calloc(n + 1, sizeof *v);
    layout t = {.nodes = nodes, .v = v, .n = n};
    flame_layout l = {0};
    VP_NEED(v);
    t.all = sum_roots(&t);
    l.all = t.all = whole > t.all ? whole : t.all;
    place_flame_nodes(&t);
    VP_TRY(choose_shown_nodes(&t));
    VP_TRY(make_boxes(&l, &t));
    *out = l;
    return 0;
}

void flame_layout_free(flame_layout *l)
{
    vp_free(l->v);
    l->v = NULL;
    l->n = 0;
}
