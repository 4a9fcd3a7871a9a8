#include "trace/analyze/device/op_places.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

/* A kind with calls, sorted next to those of its group, scope and source. */
typedef struct placed {
    uint32_t group, scope, source, kind;
    int64_t self_ps;
} placed;

/* The kinds [first, end) of one group that are equal in the compared property, and their self time.
 */
typedef struct range {
    size_t first, end;
    int64_t self_ps;
} range;

static uint64_t pack_u32_pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

static int by_group_and_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    uint64_t left = pack_u32_pair(x->group, x->scope), right = pack_u32_pair(y->group, y->scope);
    if (left == right) {
        left = pack_u32_pair(x->source, x->kind);
        right = pack_u32_pair(y->source, y->kind);
    }
    return (left > right) - (left < right);
}

static size_t collect_placed_kinds(placed *out, const trace *t, const uint32_t *group_of,
                                   const kind_list *l)
{
    size_t n = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        const trace_kind *k = &t->kinds[l->kind[i]];
        uint32_t group = group_of[l->kind[i]];
        if (group != UINT32_MAX)
            out[n++] = (placed){group, k->scope, k->source, l->kind[i], l->self_ps[i]};
    }
    return n;
}

static uint32_t placed_id(const placed *p, bool scope)
{
    return scope ? p->scope : p->source;
}

/* The range of one scope, or source, that starts at `first`. */
static range range_at(const placed *v, size_t first, size_t end, bool scope)
{
    range r = {first, first, 0};
    for (; r.end < end && placed_id(&v[r.end], scope) == placed_id(&v[first], scope); r.end++)
        r.self_ps += v[r.end].self_ps;
    return r;
}

static bool is_text_before(const trace *t, uint32_t a, uint32_t b)
{
    vp_str x = trace_str(t, a), y = trace_str(t, b);
    size_t n = x.n < y.n ? x.n : y.n;
    int order = n ? memcmp(x.p, y.p, n) : 0;
    return order ? order < 0 : x.n < y.n;
}

static range largest_place_range(const trace *t, const placed *v, range all, bool scope)
{
    range best = range_at(v, all.first, all.end, scope);
    for (range r = best; r.end < all.end;) {
        r = range_at(v, r.end, all.end, scope);
        if (r.self_ps > best.self_ps ||
            (r.self_ps == best.self_ps &&
             is_text_before(t, placed_id(&v[r.first], scope), placed_id(&v[best.first], scope))))
            best = r;
    }
    return best;
}

static int64_t count_scopes(const placed *v, range all)
{
    int64_t n = 0;
    for (size_t i = all.first; i < all.end; i++)
        n += v[i].scope && (i == all.first || v[i].scope != v[i - 1].scope);
    return n;
}

static int count_sources(op_place *out, const placed *v, size_t n)
{
    vp_map seen;
    int rc = 0;
    vp_map_init(&seen);
    for (size_t i = 0; rc >= 0 && i < n; i++) {
        uint64_t key = pack_u32_pair(v[i].group, v[i].source);
        if (!v[i].source || vp_map_get(&seen, key) != VP_MAP_NONE)
            continue;
        out[v[i].group].sources++;
        rc = vp_map_set(&seen, key, 0);
    }
    vp_map_free(&seen);
    return rc;
}

static uint32_t longest_kind_in_range(const placed *v, range r)
{
    size_t best = r.first;
    for (size_t i = r.first; i < r.end; i++)
        if (v[i].self_ps > v[best].self_ps)
            best = i;
    return v[best].kind;
}

static range group_at(const placed *v, size_t first, size_t n)
{
    range r = {first, first, 0};
    while (r.end < n && v[r.end].group == v[first].group)
        r.end++;
    return r;
}

int op_places(op_place *out, uint32_t group_count, const trace *t, const uint32_t *group_of,
              const kind_list *l)
{
    VP_CLEANUP(vp_free_ptr)
    placed *v = vp_realloc_array(NULL, (size_t)l->n + 1, sizeof *v);
    VP_NEED(v);
    for (uint32_t i = 0; i < group_count; i++)
        out[i] = (op_place){0};
    size_t n = collect_placed_kinds(v, t, group_of, l);
    VP_TRY(count_sources(out, v, n));
    qsort(v, n, sizeof *v, by_group_and_place);
    for (range g = {0}; g.end < n;) {
        g = group_at(v, g.end, n);
        op_place *place = &out[v[g.first].group];
        place->scopes = count_scopes(v, g);
        place->kind = longest_kind_in_range(
            v, largest_place_range(t, v, largest_place_range(t, v, g, true), false));
    }
    return 0;
}
