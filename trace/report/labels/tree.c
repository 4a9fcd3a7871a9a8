#include "trace/report/labels/tree.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

/* 0 for the roots, so that every scope has a parent. */
static uint32_t scope_slot(const vp_scope *s)
{
    return s->parent == UINT32_MAX ? 0 : s->parent + 1;
}

static int compare_scopes(const void *a, const void *b, void *ctx)
{
    const vp_scope *scopes = ctx;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const vp_scope *x = &scopes[i], *y = &scopes[j];
    uint32_t px = scope_slot(x), py = scope_slot(y);
    if (px != py)
        return px < py ? -1 : 1;
    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    int by_name = strcmp(x->name ? x->name : "", y->name ? y->name : "");
    return by_name ? by_name : (i > j) - (i < j);
}

int tree_init(tree *out, const vp_report *r, const tree_limits *limits)
{
    tree t = {.r = r, .limits = *limits};
    size_t n = r->scope_count;
    t.order = vp_calloc(n + 1, sizeof *t.order);
    t.first = vp_calloc(n + 2, sizeof *t.first);
    if (!t.order || !t.first) {
        tree_free(&t);
        return vp_no_memory();
    }
    for (size_t i = 0; i < n; i++) {
        t.order[i] = (uint32_t)i;
        t.first[scope_slot(&r->scopes[i]) + 1]++;
        t.all_ps += r->scopes[i].parent == UINT32_MAX ? r->scopes[i].total_ps : 0;
    }
    for (size_t i = 1; i < n + 2; i++)
        t.first[i] += t.first[i - 1];
    qsort_r(t.order, n, sizeof *t.order, compare_scopes, r->scopes);
    if (t.limits.depth > TREE_DEPTH_MAX)
        t.limits.depth = TREE_DEPTH_MAX;
    t.levels[0] = (tree_level){0, t.first[1], 0};
    t.depth = 1;
    *out = t;
    return 0;
}

void tree_free(tree *t)
{
    vp_free(t->order);
    vp_free(t->first);
    t->order = t->first = NULL;
}

/* A scope with one child and without self time adds no information to its child. */
static uint32_t fold_chain(const tree *t, uint32_t i)
{
    for (;;) {
        const vp_scope *s = &t->r->scopes[i];
        uint32_t first = t->first[i + 1], end = t->first[i + 2];
        if (end - first != 1 || s->self_ps != 0)
            return i;
        if (t->r->scopes[t->order[first]].total_ps != s->total_ps)
            return i;
        i = t->order[first];
    }
}

vp_str tree_chain_label(const vp_scope *first, const vp_scope *last)
{
    vp_str path = vp_str_of(last->path), head = vp_str_of(first->path);
    vp_str name = vp_str_of(first->name);
    if (first != last && head.n <= path.n && vp_str_ends(head, name))
        return vp_str_skip(path, head.n - name.n);
    return vp_str_of(last->name);
}

/* The subtree of i is contiguous, because scopes are in pre-order. */
static size_t count_below(const vp_report *r, uint32_t i)
{
    size_t n = 0;
    for (size_t k = (size_t)i + 1; k < r->scope_count && r->scopes[k].depth > r->scopes[i].depth;
         k++)
        n++;
    return n;
}

static bool is_cut(const tree *t, const tree_level *level)
{
    const vp_scope *s = &t->r->scopes[t->order[level->next]];
    if (t->rows >= t->limits.rows)
        return true;
    if (level->end - level->next == 1) /* "1 more" would take as much space as the row */
        return false;
    return level->shown >= t->limits.breadth || s->total_ps < t->limits.min_ps;
}

static tree_event tree_event_for_rest(tree *t, tree_level *level)
{
    t->more = level->end - level->next;
    t->more_total_ps = t->more_calls = 0;
    for (; level->next < level->end; level->next++) {
        t->more_total_ps += t->r->scopes[t->order[level->next]].total_ps;
        t->more_calls += t->r->scopes[t->order[level->next]].calls;
    }
    t->row_depth = t->depth - 1;
    return TREE_MORE;
}

tree_event tree_next(tree *t)
{
    if (!t->depth)
        return TREE_END;
    tree_level *level = &t->levels[t->depth - 1];
    if (level->next == level->end) {
        t->depth--;
        return t->depth ? TREE_CLOSE : TREE_END;
    }
    if (is_cut(t, level))
        return tree_event_for_rest(t, level);
    uint32_t head = t->order[level->next++], i = fold_chain(t, head);
    uint32_t first = t->first[i + 1], end = t->first[i + 2];
    level->shown++;
    t->rows++;
    t->scope = &t->r->scopes[i];
    t->label = tree_chain_label(&t->r->scopes[head], t->scope);
    t->row_depth = t->depth - 1;
    t->below = 0;
    if (first == end)
        return TREE_LEAF;
    if (t->depth >= t->limits.depth || t->rows >= t->limits.rows) {
        t->below = count_below(t->r, i);
        return TREE_LEAF;
    }
    t->levels[t->depth++] = (tree_level){first, end, 0};
    return TREE_OPEN;
}
