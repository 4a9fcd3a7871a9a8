#include "trace/analyze/scopes.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

int scopes_collect(host_result *h, const trace *t, const kind_times *kt)
{
    vp_map by_scope;
    bool any = false;
    int rc = 0;
    for (uint32_t k = 0; k < t->kind_count && !any; k++)
        any = kt->calls[k] && t->kinds[k].scope;
    vp_map_init(&by_scope);
    for (uint32_t k = 0; any && rc >= 0 && k < t->kind_count; k++) {
        if (!kt->calls[k])
            continue;
        uint32_t i = vp_map_get(&by_scope, t->kinds[k].scope);
        if (i == VP_MAP_NONE) {
            scope_item item = {0};
            vp_str path = trace_str(t, t->kinds[k].scope);
            i = (uint32_t)h->scope_count;
            rc = host_text(&item.path, h, path.n ? path : VP_STR("(no scope)"));
            if (rc >= 0)
                rc = vp_grow(&h->scopes, &h->scope_cap, (size_t)i + 1, sizeof item, UINT32_MAX);
            if (rc >= 0)
                rc = vp_map_set(&by_scope, t->kinds[k].scope, i);
            if (rc < 0)
                break;
            h->scopes[h->scope_count++] = item;
        }
        h->scopes[i].self_ps += kt->self_ps[k];
        h->scopes[i].calls += kt->calls[k];
    }
    vp_map_free(&by_scope);
    return rc;
}

/* Deeper paths are cut: what is left is the last component. Real ones stay below 40. */
#define DEPTH_MAX 63u

typedef struct node {
    vp_str path;
    size_t name_at; /* where its last component begins */
    uint32_t parent, depth;
    uint32_t first_child, next; /* siblings, in the order of their time after sorting */
    int64_t self_ps, total_ps, calls;
} node;

typedef struct tree {
    node *v;
    size_t n, cap;
    vp_map by_path; /* hash of the path prefix → node */
} tree;

/* The end of the component that starts at `at`: '/' inside brackets does not separate. */
static size_t component_end(vp_str path, size_t at)
{
    int depth = 0;
    for (size_t i = at; i < path.n; i++) {
        char c = path.p[i];
        depth += c == '(' || c == '[';
        depth -= (c == ')' || c == ']') && depth > 0;
        if (c == '/' && depth == 0)
            return i;
    }
    return path.n;
}

static int child_of(tree *tr, vp_str path, size_t name_at, uint32_t parent, uint32_t depth,
                    uint32_t *out)
{
    uint64_t key = vp_hash(path.p, path.n, 5);
    *out = vp_map_get(&tr->by_path, key);
    if (*out != VP_MAP_NONE)
        return 0;
    VP_TRY(vp_grow(&tr->v, &tr->cap, tr->n + 1, sizeof *tr->v, UINT32_MAX - 1));
    tr->v[tr->n] = (node){path, name_at, parent, depth, UINT32_MAX, UINT32_MAX, 0, 0, 0};
    *out = (uint32_t)tr->n++;
    return vp_map_set(&tr->by_path, key, *out);
}

static int insert(tree *tr, const scope_item *item)
{
    vp_str path = vp_str_of(item->path);
    uint32_t at = UINT32_MAX, depth = 0;
    for (size_t from = 0; from < path.n || at == UINT32_MAX; depth++) {
        size_t end = depth < DEPTH_MAX ? component_end(path, from) : path.n;
        VP_TRY(child_of(tr, vp_str_head(path, end), from, at, depth, &at));
        if (end >= path.n)
            break;
        from = end + 1;
    }
    tr->v[at].self_ps += item->self_ps;
    tr->v[at].calls += item->calls;
    return 0;
}

/* Children stand behind their parents, so one pass from the back sums subtrees. */
static void sum_up(tree *tr)
{
    for (size_t i = tr->n; i-- > 0;) {
        node *x = &tr->v[i];
        x->total_ps += x->self_ps;
        if (x->parent != UINT32_MAX) {
            tr->v[x->parent].total_ps += x->total_ps;
            tr->v[x->parent].calls += x->calls;
        }
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

/* Links siblings so that the one with the most time is first; *root is the first root. */
static int link_children(tree *tr, uint32_t *root)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *order = vp_realloc_array(NULL, tr->n, sizeof *order);
    if (!order)
        return vp_fail(VP_ENOMEM, "out of memory");
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

static int emit(vp_scope **out, size_t *count, vp_arena *arena, const tree *tr, uint32_t at)
{
    VP_CLEANUP(vp_free_ptr) uint32_t *place = vp_realloc_array(NULL, tr->n, sizeof *place);
    vp_scope *v = vp_arena_zalloc(arena, tr->n * sizeof *v);
    size_t n = 0;
    if (!place || !v)
        return vp_fail(VP_ENOMEM, "out of memory");
    while (at != UINT32_MAX) {
        const node *x = &tr->v[at];
        char *path = vp_arena_strndup(arena, x->path.p, x->path.n);
        if (!path)
            return vp_fail(VP_ENOMEM, "out of memory");
        place[at] = (uint32_t)n;
        v[n++] = (vp_scope){.depth = x->depth,
                            .parent = x->parent == UINT32_MAX ? UINT32_MAX : place[x->parent],
                            .path = path,
                            .name = path + x->name_at,
                            .self_ps = x->self_ps,
                            .total_ps = x->total_ps,
                            .calls = x->calls,
                            .bytes = VP_UNKNOWN,
                            .flops = VP_UNKNOWN};
        uint32_t next = x->first_child;
        while (next == UINT32_MAX && at != UINT32_MAX) { /* up until somebody has a sibling */
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
        rc = insert(&tr, &items[i]);
    if (rc >= 0 && tr.n) {
        sum_up(&tr);
        rc = link_children(&tr, &root);
        if (rc >= 0)
            rc = emit(out, count, arena, &tr, root);
    }
    vp_free(tr.v);
    vp_map_free(&tr.by_path);
    return rc;
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
                              .remat_ps = x->remat_ps};
    }
    for (size_t i = n; i-- > 0;) { /* of the subtree → of the node alone */
        if (nodes[i].parent != UINT32_MAX)
            out[nodes[i].parent].calls -= nodes[i].calls;
    }
}

int scopes_fold(vp_folded_scope **out, size_t *count, vp_arena *arena, const scope_item *items,
                size_t n)
{
    (void)out;
    (void)count;
    (void)arena;
    (void)items;
    (void)n;
    return 0;
}
