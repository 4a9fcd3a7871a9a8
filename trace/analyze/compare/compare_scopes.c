/* Joins the computation graphs of both reports into one tree, and keeps visible and changed nodes:
 * those that differ by at least half a percent of a step, and their ancestors. For reports by
 * stack, the tree of the picture includes ops. Backward work is shown at its forward scope:
 * otherwise a slower layer would be two rows with different names. */
#include <string.h>

#include "trace/analyze/compare/compare_parts.h"
#include "trace/analyze/device/scopes.h"
#include "trace/analyze/result/look_up.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

/* The time of a node in the whole capture, scaled to the span of one device. */
static int64_t scale_node_time(const cmp_side *s, int64_t total_ps)
{
    size_t devices = 0;
    for (size_t i = 0; i <= VP_DEVICE_OTHER; i++)
        devices += s->devices[i];
    if (!s->whole_ps || !devices)
        return 0;
    return cmp_mean((__int128)total_ps * s->span_ps / s->whole_ps, (__int128)devices);
}

enum { LIST_MOVED = 1, LIST_GRAPH = 2 };

/* One report's tree, with its nodes by path. */
typedef struct scope_side {
    const cmp_side *side;
    const vp_scope *v;
    size_t n;
    vp_map by_path;
    bool has_peak; /* buffer for the cells of its nodes */
} scope_side;

static uint64_t scope_path_key(const char *path)
{
    return vp_hash(path, strlen(path), 7);
}

/* Makes the tree of forward scopes that contain the items. */
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

/* The prefix of a path's last component if it is an op in its scope, and the replacement of '/' in
 * the op's name, so that it is one component. Scopes never contain these characters. */
#define OP_MARK '\x01'
#define OP_SLASH '\x02'

/* Adds each op as a leaf of its scope. */
static int ops_tree(vp_scope **out, size_t *n, vp_arena *arena, const vp_report *r, bool fold)
{
    VP_CLEANUP(vp_buf_free) vp_buf text;
    VP_CLEANUP(vp_free_ptr) scope_item *items = vp_calloc(r->op_count, sizeof *items);
    vp_buf_init(&text, VP_INTERN_BYTES_MAX);
    VP_NEED(items);
    for (size_t i = 0; i < r->op_count; i++) {
        const vp_op *op = &r->ops[i];
        vp_str scope = vp_str_of(op->scope ? op->scope : "");
        text.n = 0;
        VP_TRY(fold ? scope_fold(&text, scope) : vp_buf_str(&text, scope));
        if (text.n)
            vp_buf_putc(&text, '/');
        vp_buf_putc(&text, OP_MARK);
        for (const char *c = op->name; *c; c++)
            vp_buf_putc(&text, *c == '/' ? OP_SLASH : *c);
        VP_TRY(text.status);
        items[i] = (scope_item){
            .path = vp_arena_strndup(arena, text.p, text.n),
            .self_ps = op->self_ps,
            .calls = op->calls,
            .bytes = VP_UNKNOWN,
            .flops = VP_UNKNOWN,
            .backward_ps = scope_is_backward(scope) ? op->self_ps : 0,
            .remat_ps = !scope_is_backward(scope) && scope_is_remat(scope) ? op->self_ps : 0};
        VP_NEED(items[i].path);
    }
    return scopes_tree(out, n, arena, items, r->op_count);
}

static int fold_scopes(vp_scope **out, size_t *n, vp_arena *arena, const vp_report *r)
{
    VP_CLEANUP(vp_free_ptr) scope_item *items = vp_calloc(r->scope_count, sizeof *items);
    VP_NEED(items);
    scopes_items(items, r->scopes, r->scope_count);
    return folded_tree(out, n, arena, items, r->scope_count);
}

static int open_side(scope_side *x, vp_arena *arena, const cmp_side *side, bool fold, bool ops)
{
    const vp_report *r = side->r;
    *x = (scope_side){
        .side = side, .v = r->scopes, .n = r->scope_count, .has_peak = !ops && result_has_peak(r)};
    vp_map_init(&x->by_path);
    if (fold || ops) {
        vp_scope *tree = NULL;
        x->n = 0;
        VP_TRY(ops ? ops_tree(&tree, &x->n, arena, r, fold) : fold_scopes(&tree, &x->n, arena, r));
        x->v = tree;
    }
    for (size_t i = 0; i < x->n; i++)
        VP_TRY(vp_map_set(&x->by_path, scope_path_key(x->v[i].path), (uint32_t)i));
    return 0;
}

static const vp_scope *node_at(const scope_side *x, const char *path)
{
    uint32_t i = vp_map_get(&x->by_path, scope_path_key(path));
    return i == VP_MAP_NONE ? NULL : &x->v[i];
}

/* A side without the node has zeros. Cells are scaled cumulatively, so that they add up to their
 * scaled sum. */
static void scaled_node_cells(int64_t out[VP_CELLS], const scope_side *x, const vp_scope *node)
{
    int64_t sum = 0, before = 0;
    for (size_t i = 0; i < VP_CELLS; i++) {
        if (!x->has_peak) {
            out[i] = VP_UNKNOWN;
            continue;
        }
        sum += node ? node->roof.cell_ps[i] : 0;
        int64_t now = scale_node_time(x->side, sum);
        out[i] = now - before;
        before = now;
    }
}

static vp_compared_scope compare_scope_node(const scope_side *a, const scope_side *b,
                                            const vp_scope *node)
{
    const vp_scope *na = node_at(a, node->path), *nb = node_at(b, node->path);
    int64_t cells_a[VP_CELLS], cells_b[VP_CELLS];
    scaled_node_cells(cells_a, a, na);
    scaled_node_cells(cells_b, b, nb);
    vp_compared_scope x = {
        .depth = node->depth,
        .is_op = strchr(node->path, OP_MARK),
        .total = cmp_delta(na ? scale_node_time(a->side, na->total_ps) : 0,
                           nb ? scale_node_time(b->side, nb->total_ps) : 0),
        .backward = cmp_delta(na ? scale_node_time(a->side, na->backward_ps + na->remat_ps) : 0,
                              nb ? scale_node_time(b->side, nb->backward_ps + nb->remat_ps) : 0)};
    for (size_t i = 0; i < VP_CELLS; i++)
        x.cells[i] = cmp_delta(cells_a[i], cells_b[i]);
    return x;
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

static const char *plain_path(comparing *k, const char *path)
{
    char *text = vp_arena_strndup(k->arena, path, strlen(path)), *to = text;
    if (!text)
        k->out_of_memory = true;
    for (const char *c = path; text && *c; c++)
        if (*c != OP_MARK)
            *to++ = *c == OP_SLASH ? '/' : *c;
    if (text)
        *to = 0;
    return text;
}

/* Copies the marked nodes to a list of the comparison. */
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
        (*out)[(*count)++].path = plain_path(k, all[i].path);
    }
    return 0;
}

/* The parent of a visible node is visible, because it takes at least as much time on both sides. */
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

/* Work that only one side does is not noise, but its time is: on a busy machine it varies by a
 * factor of two. Therefore half of the new work counts, minus twice the removed work, which may be
 * the same work with another name. */
static int64_t certain_difference(const vp_compared_scope *all, const vp_scope *tree, size_t n)
{
    __int128 new_ps = 0, gone_ps = 0;
    for (size_t i = 0; i < n; i++) {
        const vp_delta *d = &all[i].total;
        const vp_delta *around = tree[i].parent == UINT32_MAX ? NULL : &all[tree[i].parent].total;
        if (!d->a_ps && (!around || around->a_ps))
            new_ps += d->b_ps;
        if (!d->b_ps && (!around || around->b_ps))
            gone_ps += d->a_ps;
    }
    if (new_ps / 2 > 2 * gone_ps)
        return (int64_t)(new_ps / 2 - 2 * gone_ps);
    return gone_ps / 2 > 2 * new_ps ? (int64_t)(2 * new_ps - gone_ps / 2) : 0;
}

/* lists: the parts of the tree that the comparison keeps. */
static int keep_some(comparing *k, const vp_scope *tree, size_t n, const scope_side *a,
                     const scope_side *b, unsigned lists)
{
    VP_CLEANUP(vp_free_ptr) bool *keep = vp_calloc(n, sizeof *keep);
    VP_CLEANUP(vp_free_ptr) vp_compared_scope *all = vp_calloc(n, sizeof *all);
    vp_comparison *c = k->c;
    int64_t span = c->step.a_ps > c->step.b_ps ? c->step.a_ps : c->step.b_ps;
    VP_NEED(keep && all);
    for (size_t i = 0; i < n; i++) {
        all[i] = compare_scope_node(a, b, &tree[i]);
        all[i].path = tree[i].path;
    }
    if (lists & LIST_MOVED)
        c->certain_ps = certain_difference(all, tree, n);
    mark_moved(keep, all, tree, n, span);
    if (lists & LIST_MOVED)
        VP_TRY(keep_marked(&c->scopes, &c->scope_count, k, all, keep, n));
    mark_seen(keep, all, tree, n, span);
    return lists & LIST_GRAPH ? keep_marked(&c->graph, &c->graph_count, k, all, keep, n) : 0;
}

bool cmp_has_backward_pass(const vp_report *r)
{
    for (size_t i = 0; i < r->scope_count; i++)
        if (r->scopes[i].backward_ps || r->scopes[i].remat_ps)
            return true;
    return false;
}

static int join_sides(comparing *k, bool ops, unsigned lists)
{
    bool fold = cmp_has_backward_pass(k->a.r) || cmp_has_backward_pass(k->b.r);
    scope_side a = {0}, b = {0};
    vp_arena arena;
    vp_scope *tree = NULL;
    size_t n = 0;
    vp_arena_init(&arena);
    int rc = open_side(&a, &arena, &k->a, fold, ops);
    if (rc >= 0)
        rc = open_side(&b, &arena, &k->b, fold, ops);
    if (rc >= 0)
        rc = join_trees(&tree, &n, &arena, &a, &b);
    if (rc >= 0 && n)
        rc = keep_some(k, tree, n, &a, &b, lists);
    vp_map_free(&a.by_path);
    vp_map_free(&b.by_path);
    vp_arena_free(&arena);
    return rc;
}

static bool tells_stacks(const vp_report *r)
{
    return r->group == VP_GROUP_STACK && r->has_devices;
}

int cmp_scopes(comparing *k)
{
    bool ops = tells_stacks(k->a.r) && tells_stacks(k->b.r);
    VP_TRY(join_sides(k, false, LIST_MOVED | (ops ? 0 : LIST_GRAPH)));
    return ops ? join_sides(k, true, LIST_GRAPH) : 0;
}
