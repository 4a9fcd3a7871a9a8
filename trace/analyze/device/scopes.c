#include "trace/analyze/device/scopes.h"

#include <stdlib.h>

#include "trace/analyze/device/self.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/sums.h"

/* Adds a kind to its scope. Rematerialized work usually runs in the backward pass, but does not
 * count as backward work. */
static void scope_add_kind(scope_item *item, const trace *t, uint32_t kind, const kind_times *kt)
{
    const trace_kind *k = &t->kinds[kind];
    int64_t self = kt->self_ps[kind], calls = kt->calls[kind];
    vp_str path = trace_str(t, k->scope);
    item->self_ps += self;
    item->calls += calls;
    item->bytes = vp_add_known(item->bytes, vp_times_known(k->bytes, calls));
    item->flops = vp_add_known(item->flops, vp_times_known(k->flops, calls));
    if (scope_is_remat(path) || scope_is_remat_op(trace_str(t, k->name)))
        item->remat_ps += self;
    else if (scope_is_backward(path))
        item->backward_ps += self;
}

/* The item of a kind's path, which is created for the first kind with that path. */
static int item_of(scope_item **out, host_result *h, vp_map *by_scope, const trace *t, vp_sid scope)
{
    uint32_t i = vp_map_get(by_scope, scope);
    if (i == VP_MAP_NONE) {
        scope_item item = {.bytes = VP_UNKNOWN, .flops = VP_UNKNOWN, .roof = ROOF_NONE};
        vp_str path = trace_str(t, scope);
        i = (uint32_t)h->scope_count;
        VP_TRY(host_text(&item.path, h, path.n ? path : VP_STR("(no scope)")));
        VP_TRY(vp_grow(&h->scopes, &h->scope_cap, (size_t)i + 1, sizeof item, UINT32_MAX));
        VP_TRY(vp_map_set(by_scope, scope, i));
        h->scopes[h->scope_count++] = item;
    }
    *out = &h->scopes[i];
    return 0;
}

/* Sets the source of each scope to that of its op with the most self time. */
static int name_sources(host_result *h, const vp_map *by_scope, const trace *t,
                        const kind_times *kt)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *best = vp_realloc_array(NULL, h->scope_count, sizeof *best);
    VP_NEED(best);
    for (size_t i = 0; i < h->scope_count; i++)
        best[i] = UINT32_MAX;
    for (uint32_t k = 0; k < t->kind_count; k++) {
        uint32_t i = kt->calls[k] && t->kinds[k].source ? vp_map_get(by_scope, t->kinds[k].scope)
                                                        : VP_MAP_NONE;
        if (i != VP_MAP_NONE && (best[i] == UINT32_MAX || kt->self_ps[k] > kt->self_ps[best[i]]))
            best[i] = k;
    }
    for (size_t i = 0; i < h->scope_count; i++)
        if (best[i] != UINT32_MAX)
            VP_TRY(host_text(&h->scopes[i].source, h, trace_str(t, t->kinds[best[i]].source)));
    return 0;
}

static int collect_scope_items(host_result *h, vp_map *by_scope, const trace *t,
                               const kind_times *kt)
{
    for (uint32_t k = 0; k < t->kind_count; k++) {
        scope_item *item;
        if (!kt->calls[k])
            continue;
        VP_TRY(item_of(&item, h, by_scope, t, t->kinds[k].scope));
        scope_add_kind(item, t, k, kt);
    }
    return name_sources(h, by_scope, t, kt);
}

int scopes_collect(host_result *h, const trace *t, const kind_times *kt)
{
    vp_map by_scope;
    bool any = false;
    for (uint32_t k = 0; k < t->kind_count && !any; k++)
        any = kt->calls[k] && t->kinds[k].scope;
    if (!any)
        return 0;
    vp_map_init(&by_scope);
    int rc = collect_scope_items(h, &by_scope, t, kt);
    vp_map_free(&by_scope);
    return rc;
}

/* Deeper paths are truncated: the rest becomes the last component. Real paths have fewer than 40.
 */
#define DEPTH_MAX 63u

typedef struct node {
    vp_str path;
    size_t name_at; /* start of its last component */
    uint32_t parent, depth;
    uint32_t first_child, next; /* siblings, in the order of their time after sorting */
    int64_t total_ps;
    int64_t source_ps; /* self time of the item with the source */
    scope_item sum;    /* self_ps is of the node alone, all other sums are of its subtree */
} node;

typedef struct tree {
    node *v;
    size_t n, cap;
    vp_map by_path; /* hash of the path prefix → node */
} tree;

static int child_of(tree *tr, vp_str path, size_t name_at, uint32_t parent, uint32_t depth,
                    uint32_t *out)
{
    uint64_t key = vp_hash(path.p, path.n, 5);
    *out = vp_map_get(&tr->by_path, key);
    if (*out != VP_MAP_NONE)
        return 0;
    VP_TRY(vp_grow(&tr->v, &tr->cap, tr->n + 1, sizeof *tr->v, UINT32_MAX - 1));
    tr->v[tr->n] = (node){.path = path,
                          .name_at = name_at,
                          .parent = parent,
                          .depth = depth,
                          .first_child = UINT32_MAX,
                          .next = UINT32_MAX,
                          .source_ps = -1,
                          .sum = {.bytes = VP_UNKNOWN, .flops = VP_UNKNOWN, .roof = ROOF_NONE}};
    *out = (uint32_t)tr->n++;
    return vp_map_set(&tr->by_path, key, *out);
}

/* Adds all sums except the self time, which stays with its node. */
static void node_add_sums(node *x, const scope_item *more)
{
    x->sum.calls += more->calls;
    x->sum.bytes = vp_add_known(x->sum.bytes, more->bytes);
    x->sum.flops = vp_add_known(x->sum.flops, more->flops);
    x->sum.idle_before_ps += more->idle_before_ps;
    x->sum.backward_ps += more->backward_ps;
    x->sum.remat_ps += more->remat_ps;
    roof_add(&x->sum.roof, &more->roof);
}

/* Uses the source of the largest item; ties: the first by name, so that the order of files does not
 * matter. */
static void offer_source(node *x, const char *source, int64_t self_ps)
{
    if (!source || self_ps < x->source_ps ||
        (self_ps == x->source_ps && strcmp(source, x->sum.source) >= 0))
        return;
    x->sum.source = source;
    x->source_ps = self_ps;
}

static int tree_insert_item(tree *tr, const scope_item *item)
{
    vp_str path = vp_str_of(item->path);
    uint32_t at = UINT32_MAX, depth = 0;
    for (size_t from = 0; from < path.n || at == UINT32_MAX; depth++) {
        size_t end = depth < DEPTH_MAX ? scope_component_end(path, from) : path.n;
        VP_TRY(child_of(tr, vp_str_head(path, end), from, at, depth, &at));
        if (end >= path.n)
            break;
        from = end + 1;
    }
    tr->v[at].sum.self_ps += item->self_ps;
    node_add_sums(&tr->v[at], item);
    offer_source(&tr->v[at], item->source, item->self_ps);
    return 0;
}

/* Adds up subtrees in one pass from the end, because children follow their parents. */
static void tree_sum_up(tree *tr)
{
    for (size_t i = tr->n; i-- > 0;) {
        node *x = &tr->v[i];
        x->total_ps += x->sum.self_ps;
        if (x->parent == UINT32_MAX)
            continue;
        tr->v[x->parent].total_ps += x->total_ps;
        node_add_sums(&tr->v[x->parent], &x->sum);
        offer_source(&tr->v[x->parent], x->sum.source, x->source_ps);
    }
}

static int by_parent_then_time(const void *a, const void *b, void *tree_ptr)
{
    const tree *tr = tree_ptr;
    const node *x = &tr->v[*(const uint32_t *)a], *y = &tr->v[*(const uint32_t *)b];
    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    size_t n = x->path.n < y->path.n ? x->path.n : y->path.n;
    int order = memcmp(x->path.p, y->path.p, n);
    return order ? order : (x->path.n > y->path.n) - (x->path.n < y->path.n);
}

/* Links siblings so that the one with the most time comes first. *root: the first root. */
static int link_children(tree *tr, uint32_t *root)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *order = vp_realloc_array(NULL, tr->n, sizeof *order);
    VP_NEED(order);
    for (size_t i = 0; i < tr->n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, tr->n, sizeof *order, by_parent_then_time, tr);
    *root = UINT32_MAX;
    for (size_t i = tr->n; i-- > 0;) {
        node *x = &tr->v[order[i]];
        uint32_t *head = x->parent == UINT32_MAX ? root : &tr->v[x->parent].first_child;
        x->next = *head;
        *head = order[i];
    }
    return 0;
}

static int tree_emit_scopes(vp_scope **out, size_t *count, vp_arena *arena, const tree *tr,
                            uint32_t at)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *place = vp_realloc_array(NULL, tr->n, sizeof *place);
    vp_scope *v = vp_arena_zalloc(arena, tr->n * sizeof *v);
    size_t n = 0;
    VP_NEED(place && v);
    while (at != UINT32_MAX) {
        const node *x = &tr->v[at];
        const char *source = x->sum.source;
        char *path = vp_arena_strndup(arena, x->path.p, x->path.n);
        if (source)
            source = vp_arena_strndup(arena, source, strlen(source));
        if (!path || (x->sum.source && !source))
            return vp_no_memory();
        place[at] = (uint32_t)n;
        v[n++] = (vp_scope){.depth = x->depth,
                            .parent = x->parent == UINT32_MAX ? UINT32_MAX : place[x->parent],
                            .path = path,
                            .name = path + x->name_at,
                            .self_ps = x->sum.self_ps,
                            .total_ps = x->total_ps,
                            .calls = x->sum.calls,
                            .bytes = x->sum.bytes,
                            .flops = x->sum.flops,
                            .source = source,
                            .idle_before_ps = x->sum.idle_before_ps,
                            .backward_ps = x->sum.backward_ps,
                            .remat_ps = x->sum.remat_ps,
                            .roof = x->sum.roof};
        uint32_t next = x->first_child;
        while (next == UINT32_MAX && at != UINT32_MAX) { /* ascends until a node has a sibling */
            next = tr->v[at].next;
            at = tr->v[at].parent;
        }
        at = next;
    }
    *out = v;
    *count = n;
    return 0;
}

int scopes_tree(vp_scope **out, size_t *count, vp_arena *arena, const scope_item *items, size_t n)
{
    tree tr = {0};
    uint32_t root = UINT32_MAX;
    int rc = 0;
    for (size_t i = 0; rc >= 0 && i < n; i++)
        rc = tree_insert_item(&tr, &items[i]);
    if (rc >= 0 && tr.n) {
        tree_sum_up(&tr);
        rc = link_children(&tr, &root);
        if (rc >= 0)
            rc = tree_emit_scopes(out, count, arena, &tr, root);
    }
    vp_free(tr.v);
    vp_map_free(&tr.by_path);
    return rc;
}

static void subtract_child_scope(scope_item *x, const vp_scope *child)
{
    x->calls -= child->calls;
    x->bytes -= child->bytes > 0 ? child->bytes : 0;
    x->flops -= child->flops > 0 ? child->flops : 0;
    x->idle_before_ps -= child->idle_before_ps;
    x->backward_ps -= child->backward_ps;
    x->remat_ps -= child->remat_ps;
    roof_take(&x->roof, &child->roof);
}

void scopes_items(scope_item *out, const vp_scope *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const vp_scope *x = &nodes[i];
        out[i] = (scope_item){.path = x->path,
                              .source = x->source,
                              .self_ps = x->self_ps,
                              .calls = x->calls,
                              .bytes = x->bytes,
                              .flops = x->flops,
                              .idle_before_ps = x->idle_before_ps,
                              .backward_ps = x->backward_ps,
                              .remat_ps = x->remat_ps,
                              .roof = x->roof};
    }
    for (size_t i = n; i-- > 0;) /* converts sums of subtrees to sums of nodes */
        if (nodes[i].parent != UINT32_MAX)
            subtract_child_scope(&out[nodes[i].parent], &nodes[i]);
}
