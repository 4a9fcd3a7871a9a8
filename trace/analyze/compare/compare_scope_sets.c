/* The scopes that exist on the other side of a comparison. An op in a new scope is a new op, even
 * if a group with its name exists. If the function of a program was renamed, all its scopes are
 * new, so nothing is split. */
#include <string.h>

#include "trace/analyze/compare/compare_parts.h"
#include "trace/analyze/device/scopes.h"
#include "trace/base/err.h"
#include "trace/base/hash.h"
#include "trace/base/limits.h"

/* "jit(f)/layer/dot" to "jit(f)/layer", or the forward scope. */
static int put_scope_of_op(vp_buf *out, const cmp_scope_set *s, vp_str scope)
{
    out->n = 0;
    if (s->fold)
        return scope_fold(out, scope);
    size_t at = 0, end = scope_component_end(scope, 0);
    while (end < scope.n) {
        at = end;
        end = scope_component_end(scope, end + 1);
    }
    return vp_buf_str(out, vp_str_head(scope, at ? at : scope.n));
}

static vp_str root_of_scope(vp_str scope)
{
    return vp_str_head(scope, scope_component_end(scope, 0));
}

static uint64_t key_of_text(vp_str s)
{
    return vp_hash(s.p, s.n, 11);
}

static int fill_scope_set(cmp_scope_set *s, const vp_report *r)
{
    VP_CLEANUP(vp_buf_free) vp_buf path;
    vp_buf_init(&path, VP_INTERN_BYTES_MAX);
    for (size_t i = 0; i < r->scope_count; i++) {
        vp_str scope = vp_str_of(r->scopes[i].path);
        VP_TRY(put_scope_of_op(&path, s, scope));
        VP_TRY(vp_map_set(&s->paths, key_of_text(vp_buf_view(&path)), 1));
        VP_TRY(vp_map_set(&s->paths, key_of_text(scope), 1));
        VP_TRY(vp_map_set(&s->roots, key_of_text(root_of_scope(scope)), 1));
    }
    return 0;
}

static bool has_roots_of(const cmp_scope_set *s, const vp_report *other)
{
    for (size_t i = 0; i < other->scope_count; i++)
        if (!other->scopes[i].depth &&
            vp_map_get(&s->roots, key_of_text(vp_str_of(other->scopes[i].path))) == VP_MAP_NONE)
            return false;
    return true;
}

int cmp_scope_sets(cmp_scope_set *a, cmp_scope_set *b, const comparing *k)
{
    *a = *b =
        (cmp_scope_set){.fold = cmp_has_backward_pass(k->a.r) || cmp_has_backward_pass(k->b.r)};
    vp_map_init(&a->paths);
    vp_map_init(&a->roots);
    vp_map_init(&b->paths);
    vp_map_init(&b->roots);
    VP_TRY(fill_scope_set(a, k->a.r));
    VP_TRY(fill_scope_set(b, k->b.r));
    a->complete = has_roots_of(a, k->b.r);
    b->complete = has_roots_of(b, k->a.r);
    return 0;
}

void cmp_scope_set_free(cmp_scope_set *s)
{
    vp_map_free(&s->paths);
    vp_map_free(&s->roots);
}

int cmp_lacks_scope(bool *lacks, const cmp_scope_set *other, const cmp_scope_set *own,
                    const char *scope)
{
    VP_CLEANUP(vp_buf_free) vp_buf path;
    vp_buf_init(&path, VP_INTERN_BYTES_MAX);
    *lacks = false;
    /* Without scopes, or with another program, the result is unknown. A program that was added to
     * all existing ones is new. */
    bool same_program =
        vp_map_get(&other->roots, key_of_text(root_of_scope(vp_str_of(scope)))) != VP_MAP_NONE;
    if (!scope || !*scope || !other->paths.count || (!same_program && !own->complete))
        return 0;
    VP_TRY(put_scope_of_op(&path, other, vp_str_of(scope)));
    *lacks = vp_map_get(&other->paths, key_of_text(vp_buf_view(&path))) == VP_MAP_NONE;
    return 0;
}
