#include <string.h>

#include "trace/analyze/compare_parts.h"
#include "trace/analyze/scopes.h"
#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

/* The computation graphs of both as one tree, and of it what moved: nodes that differ by at least
 * half a percent of a step, under their ancestors. */

/* A node's time scaled to the span of one device: scopes are of the whole capture. */
static int64_t scaled(const cmp_side *s, int64_t total_ps)
{
    size_t devices = 0;
    for (size_t i = 0; i <= VP_DEVICE_OTHER; i++)
        devices += s->devices[i];
    if (!s->whole_ps || !devices)
        return 0;
    return cmp_mean((__int128)total_ps * s->span_ps / s->whole_ps, (__int128)devices);
}

static int index_paths(vp_map *m, const vp_report *r)
{
    for (size_t i = 0; i < r->scope_count; i++)
        VP_TRY(
            vp_map_set(m, vp_hash(r->scopes[i].path, strlen(r->scopes[i].path), 7), (uint32_t)i));
    return 0;
}

static int64_t total_at(const vp_map *m, const cmp_side *s, const char *path)
{
    uint32_t i = vp_map_get(m, vp_hash(path, strlen(path), 7));
    return i == VP_MAP_NONE ? 0 : scaled(s, s->r->scopes[i].total_ps);
}

/* The union of both trees, in pre-order. */
static int join_trees(vp_scope **out, size_t *count, vp_arena *arena, const comparing *k)
{
    size_t na = k->a.r->scope_count, nb = k->b.r->scope_count;
    VP_CLEANUP(vp_free_ptr) scope_item *items = vp_calloc(na + nb, sizeof *items);
    if (!items)
        return vp_fail(VP_ENOMEM, "out of memory");
    scopes_items(items, k->a.r->scopes, na);
    scopes_items(items + na, k->b.r->scopes, nb);
    return scopes_tree(out, count, arena, items, na + nb);
}

static int keep_moved(comparing *k, const vp_scope *tree, size_t n, const vp_map *ma,
                      const vp_map *mb)
{
    VP_CLEANUP(vp_free_ptr) bool *keep = vp_calloc(n, sizeof *keep);
    VP_CLEANUP(vp_free_ptr) vp_delta *deltas = vp_calloc(n, sizeof *deltas);
    int64_t least = k->c->step.a_ps > k->c->step.b_ps ? k->c->step.a_ps : k->c->step.b_ps;
    size_t kept = 0;
    if (!keep || !deltas)
        return vp_fail(VP_ENOMEM, "out of memory");
    for (size_t i = n; i-- > 0;) {
        deltas[i] = cmp_delta(total_at(ma, &k->a, tree[i].path), total_at(mb, &k->b, tree[i].path));
        if (cmp_size(&deltas[i]) && cmp_size(&deltas[i]) >= least / 200)
            keep[i] = true;
        if (keep[i] && tree[i].parent != UINT32_MAX)
            keep[tree[i].parent] = true;
        kept += keep[i];
    }
    k->c->scopes = vp_arena_zalloc(k->arena, kept * sizeof *k->c->scopes);
    if (!k->c->scopes)
        return vp_fail(VP_ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++)
        if (keep[i])
            k->c->scopes[k->c->scope_count++] =
                (vp_compared_scope){cmp_text(k, tree[i].path), tree[i].depth, deltas[i]};
    return 0;
}

int cmp_scopes(comparing *k)
{
    vp_arena arena;
    vp_map ma, mb;
    vp_scope *tree = NULL;
    size_t n = 0;
    vp_arena_init(&arena);
    vp_map_init(&ma);
    vp_map_init(&mb);
    int rc = join_trees(&tree, &n, &arena, k);
    if (rc >= 0)
        rc = index_paths(&ma, k->a.r);
    if (rc >= 0)
        rc = index_paths(&mb, k->b.r);
    if (rc >= 0 && n)
        rc = keep_moved(k, tree, n, &ma, &mb);
    vp_map_free(&ma);
    vp_map_free(&mb);
    vp_arena_free(&arena);
    return rc;
}
