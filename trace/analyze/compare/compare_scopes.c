/* Joins the computation graphs of both reports into one tree, and keeps what can be seen in a
 * picture, and what moved: nodes that differ by at least half a percent of a step, and their
 * ancestors. Backward work stands with the
 * forward scope that it belongs to: otherwise a layer that takes longer would be two rows, which
 * hardly share a name. */
#include <string.h>

#include "trace/analyze/compare/compare_parts.h"
#include "trace/analyze/device/scopes.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

/* The time of a node, which is of the whole capture, scaled to the span of one device. */
static int64_t scaled(const cmp_side *s, int64_t total_ps)
{
    size_t devices = 0;
    for (size_t i = 0; i <= VP_DEVICE_OTHER; i++)
        devices += s->devices[i];
    if (!s->whole_ps || !devices)
        return 0;
    return cmp_mean((__int128)total_ps * s->span_ps / s->whole_ps, (__int128)devices);
}

/* One report's tree, and its nodes by path. */
typedef struct scope_side {
    const cmp_side *side;
    const vp_scope *v;
    size_t n;
    vp_map by_path;
} scope_side;

static uint64_t key_of(const char *path)
{
    return vp_hash(path, strlen(path), 7);
}

/* Makes the tree of forward scopes to which all items belong. */
static int folded_tree(vp_scope **out, size_t *n, vp_arena *arena, scope_item *items, size_t count)
{
    VP_CLEANUP(vp_buf_free) vp_buf text;
    size_t kept = 0;
    vp_buf_init(&text, VP_INTERN_BYTES_MAX);
    for (size_t i = 0; i < count; i++) {
        if (!items[i].calls && !items[i].self_ps)
            continue;
        text.n = 0;
        VP_TRY(scope_fold(&text, vp_str_of(items[i].path)));
        items[kept] = items[i];
        items[kept].path = vp_arena_strndup(arena, text.p, text.n);
        if (!items[kept++].path)
            return vp_no_memory();
    }
    return scopes_tree(out, n, arena, items, kept);
}

static int open_side(scope_side *x, vp_arena *arena, const cmp_side *side, bool fold)
{
    const vp_report *r = side->r;
    *x = (scope_side){.side = side, .v = r->scopes, .n = r->scope_count};
    vp_map_init(&x->by_path);
    if (fold) {
        VP_CLEANUP(vp_free_ptr) scope_item *items = vp_calloc(r->scope_count, sizeof *items);
        vp_scope *tree = NULL;
        VP_NEED(items);
        x->n = 0;
        scopes_items(items, r->scopes, r->scope_count);
        VP_TRY(folded_tree(&tree, &x->n, arena, items, r->scope_count));
        x->v = tree;
    }
    for (size_t i = 0; i < x->n; i++)
        VP_TRY(vp_map_set(&x->by_path, key_of(x->v[i].path), (uint32_t)i));
    return 0;
}

static const vp_scope *node_at(const scope_side *x, const char *path)
{
    uint32_t i = vp_map_get(&x->by_path, key_of(path));
    return i == VP_MAP_NONE ? NULL : &x->v[i];
}

static vp_compared_scope compared(const scope_side *a, const scope_side *b, const vp_scope *node)
{
    const vp_scope *na = node_at(a, node->path), *nb = node_at(b, node->path);
    return (vp_compared_scope){
        .depth = node->depth,
        .total = cmp_delta(na ? scaled(a->side, na->total_ps) : 0,
                           nb ? scaled(b->side, nb->total_ps) : 0),
        .backward = cmp_delta(na ? scaled(a->side, na->backward_ps + na->remat_ps) : 0,
                              nb ? scaled(b->side, nb->backward_ps + nb->remat_ps) : 0)};
}

/* The union of both trees, in pre-order. */
static int join_trees(vp_scope **out, size_t *count, vp_arena *arena, const scope_side *a,
                      const scope_side *b)
{
    VP_CLEANUP(vp_free_ptr) scope_item *items = vp_calloc(a->n + b->n, sizeof *items);
    VP_NEED(items);
    scopes_items(items, a->v, a->n);
    scopes_items(items + a->n, b->v, b->n);
    return scopes_tree(out, count, arena, items, a->n + b->n);
}

/* The nodes that are marked, as a list of the comparison's. */
static int keep_marked(vp_compared_scope **out, size_t *count, comparing *k,
                       const vp_compared_scope *all, const bool *keep, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        kept += keep[i];
    *out = vp_arena_zalloc(k->arena, kept * sizeof **out);
    VP_NEED(*out);
    for (size_t i = 0; i < n; i++) {
        if (!keep[i])
            continue;
        (*out)[*count] = all[i];
        (*out)[(*count)++].path = cmp_text(k, all[i].path);
    }
    return 0;
}

/* A node that is seen has a parent that is, which takes no less of either. */
static void mark_seen(bool *keep, const vp_compared_scope *all, const vp_scope *tree, size_t n,
                      int64_t span)
{
    for (size_t i = 0; i < n; i++) {
        const vp_delta *d = &all[i].total;
        int64_t larger = d->a_ps > d->b_ps ? d->a_ps : d->b_ps;
        keep[i] = larger > 0 && larger >= span / 1000 &&
                  (tree[i].parent == UINT32_MAX || keep[tree[i].parent]);
    }
}

static void mark_moved(bool *keep, const vp_compared_scope *all, const vp_scope *tree, size_t n,
                       int64_t span)
{
    memset(keep, 0, n * sizeof *keep);
    for (size_t i = n; i-- > 0;) {
        if (cmp_size(&all[i].total) && cmp_size(&all[i].total) >= span / 200)
            keep[i] = true;
        if (keep[i] && tree[i].parent != UINT32_MAX)
            keep[tree[i].parent] = true;
    }
}

static int keep_some(comparing *k, const vp_scope *tree, size_t n, const scope_side *a,
                     const scope_side *b)
{
    VP_CLEANUP(vp_free_ptr) bool *keep = vp_calloc(n, sizeof *keep);
    VP_CLEANUP(vp_free_ptr) vp_compared_scope *all = vp_calloc(n, sizeof *all);
    vp_comparison *c = k->c;
    int64_t span = c->step.a_ps > c->step.b_ps ? c->step.a_ps : c->step.b_ps;
    VP_NEED(keep && all);
    for (size_t i = 0; i < n; i++) {
        all[i] = compared(a, b, &tree[i]);
        all[i].path = tree[i].path;
    }
    mark_moved(keep, all, tree, n, span);
    VP_TRY(keep_marked(&c->scopes, &c->scope_count, k, all, keep, n));
    mark_seen(keep, all, tree, n, span);
    return keep_marked(&c->graph, &c->graph_count, k, all, keep, n);
}

static bool goes_back(const vp_report *r)
{
    for (size_t i = 0; i < r->scope_count; i++)
        if (r->scopes[i].backward_ps || r->scopes[i].remat_ps)
            return true;
    return false;
}

int cmp_scopes(comparing *k)
{
    bool fold = goes_back(k->a.r) || goes_back(k->b.r);
    scope_side a = {0}, b = {0};
    vp_arena arena;
    vp_scope *tree = NULL;
    size_t n = 0;
    vp_arena_init(&arena);
    int rc = open_side(&a, &arena, &k->a, fold);
    if (rc >= 0)
        rc = open_side(&b, &arena, &k->b, fold);
    if (rc >= 0)
        rc = join_trees(&tree, &n, &arena, &a, &b);
    if (rc >= 0 && n)
        rc = keep_some(k, tree, n, &a, &b);
    vp_map_free(&a.by_path);
    vp_map_free(&b.by_path);
    vp_arena_free(&arena);
    return rc;
}
