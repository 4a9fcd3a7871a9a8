/* Allocators and planned programs of two reports: peaks, and the holders that grew. */
#include "trace/analyze/compare/compare_parts.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/order.h"
#include "trace/base/err.h"
#include "trace/base/sums.h"

/* An allocator or a plan of one side. */
typedef struct peak_of {
    const char *name;
    const vp_memory *m; /* one of the two */
    const vp_memory_plan *plan;
    int64_t space, bytes;
    bool b, ran;
    size_t at; /* its index in the report; those of B follow those of A */
} peak_of;

static int order_nullable_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

/* Sorts by name, so that equal names are adjacent, with the fullest of each side first. */
static int order_peaks_by_name(const peak_of *x, const peak_of *y)
{
    int c = vp_order(x->plan != NULL, y->plan != NULL);
    c = c ? c : order_nullable_text(x->name, y->name);
    return c ? c : vp_order(x->space, y->space);
}

static int by_peak_group(const void *a, const void *b)
{
    const peak_of *x = a, *y = b;
    int c = order_peaks_by_name(x, y);
    c = c ? c : vp_order(x->b, y->b);
    c = c ? c : vp_order(y->ran, x->ran);
    c = c ? c : vp_order(y->bytes, x->bytes);
    return c ? c : vp_order((int64_t)x->at, (int64_t)y->at);
}

/* ---- Holders ---- */

static int order_holders(const void *a, const void *b)
{
    const vp_compared_holder *x = a, *y = b;
    int c = order_nullable_text(x->name, y->name);
    c = c ? c : order_nullable_text(x->scope, y->scope);
    c = c ? c : order_nullable_text(x->source, y->source);
    return c ? c : order_nullable_text(x->planned, y->planned);
}

static int64_t delta_magnitude(int64_t delta)
{
    return delta < 0 ? -delta : delta;
}

static int by_delta(const void *a, const void *b)
{
    const vp_compared_holder *x = a, *y = b;
    int c = vp_order(delta_magnitude(y->delta_bytes), delta_magnitude(x->delta_bytes));
    c = c ? c : vp_order(y->a_bytes, x->a_bytes);
    return c ? c : order_holders(a, b);
}

/* Merges rows of one holder, and those of all steps in which the same call was made. */
static size_t join_equal_holders(vp_compared_holder *h, size_t n)
{
    size_t kept = 0;
    qsort(h, n, sizeof *h, order_holders);
    for (size_t i = 0; i < n; i++) {
        if (kept && !order_holders(&h[kept - 1], &h[i])) {
            h[kept - 1].a_bytes = vp_add_most(h[kept - 1].a_bytes, h[i].a_bytes);
            h[kept - 1].b_bytes = vp_add_most(h[kept - 1].b_bytes, h[i].b_bytes);
        } else {
            h[kept++] = h[i];
        }
    }
    for (size_t i = 0; i < kept; i++)
        h[i].delta_bytes = h[i].b_bytes - h[i].a_bytes;
    qsort(h, kept, sizeof *h, by_delta);
    return kept;
}

static size_t holders_of(const peak_of *p)
{
    return p->plan ? p->plan->live_count : p->m->top_count;
}

static void put_peak_holders(vp_compared_holder *out, const peak_of *p)
{
    for (size_t i = 0; i < holders_of(p); i++) {
        vp_compared_holder *h = &out[i];
        int64_t bytes;
        if (p->plan) {
            const vp_plan_buffer *l = &p->plan->live[i];
            *h = (vp_compared_holder){
                .name = l->instruction, .scope = l->scope, .source = l->source};
            bytes = l->bytes;
        } else {
            const vp_memory_item *item = &p->m->top[i];
            *h = (vp_compared_holder){.name = item->name,
                                      .scope = item->scope,
                                      .source = item->source,
                                      .planned = item->planned};
            bytes = item->bytes;
        }
        *(p->b ? &h->b_bytes : &h->a_bytes) = bytes;
    }
}

static int compare_holders(comparing *k, vp_compared_memory *x, const peak_of *a, const peak_of *b)
{
    size_t n = holders_of(a), all = n + holders_of(b);
    x->holders = vp_arena_zalloc(k->arena, (all + 1) * sizeof *x->holders);
    x->scopes = vp_arena_zalloc(k->arena, (all + 1) * sizeof *x->scopes);
    VP_NEED(x->holders);
    VP_NEED(x->scopes);
    put_peak_holders(x->holders, a);
    put_peak_holders(x->holders + n, b);
    x->holder_count = join_equal_holders(x->holders, all);
    for (size_t i = 0; i < x->holder_count; i++) {
        vp_compared_holder *h = &x->holders[i];
        h->name = cmp_text(k, h->name);
        h->scope = cmp_text(k, h->scope);
        h->source = cmp_text(k, h->source);
        h->planned = cmp_text(k, h->planned);
        x->scopes[i] = *h;
        x->scopes[i].name = x->scopes[i].source = x->scopes[i].planned = NULL;
    }
    x->scope_count = join_equal_holders(x->scopes, x->holder_count);
    return 0;
}

/* ---- Rows ---- */

/* a, b: NULL if that side has none. */
static int add_memory_row(comparing *k, const peak_of *a, const peak_of *b)
{
    const peak_of *any = a ? a : b;
    const char *name = cmp_text(k, any->name);
    vp_compared_memory *x = &k->c->memory[k->c->memory_count++];
    *x = (vp_compared_memory){.allocator = any->plan ? NULL : name,
                              .program = any->plan ? name : NULL,
                              .space = any->space,
                              .a_bytes = a ? a->bytes : VP_UNKNOWN,
                              .b_bytes = b ? b->bytes : VP_UNKNOWN,
                              .delta_bytes = VP_NO_TIME};
    if (x->a_bytes == VP_UNKNOWN || x->b_bytes == VP_UNKNOWN)
        return 0;
    x->delta_bytes = x->b_bytes - x->a_bytes;
    return compare_holders(k, x, a, b);
}

static size_t collect_peaks(peak_of *out, size_t n, const vp_report *r, bool b)
{
    for (size_t i = 0; i < r->memory_count; i++, n++)
        out[n] = (peak_of){.name = r->memory[i].allocator,
                           .m = &r->memory[i],
                           .space = VP_UNKNOWN,
                           .bytes = r->memory[i].peak_bytes,
                           .b = b,
                           .ran = true,
                           .at = n};
    for (size_t i = 0; i < r->memory_static_count; i++, n++)
        out[n] = (peak_of){.name = r->memory_static[i].module,
                           .plan = &r->memory_static[i],
                           .space = r->memory_static[i].space,
                           .bytes = r->memory_static[i].peak_bytes,
                           .b = b,
                           .ran = r->memory_static[i].ran,
                           .at = n};
    return n;
}

/* The fullest of each side with this name; NULL: none. */
typedef struct peak_pair {
    const peak_of *a, *b;
} peak_pair;

static int by_pair_place(const void *a, const void *b)
{
    const peak_pair *x = a, *y = b;
    return vp_order((int64_t)(x->a ? x->a : x->b)->at, (int64_t)(y->a ? y->a : y->b)->at);
}

/* Ignores programs that ran on neither side, which were only compiled. Returns the number of pairs.
 */
static size_t pair_memory_peaks(peak_pair *pairs, peak_of *all, size_t n)
{
    size_t made = 0;
    qsort(all, n, sizeof *all, by_peak_group);
    for (size_t i = 0, end; i < n; i = end) {
        peak_pair p = {0};
        bool ran = false;
        for (end = i; end < n && !order_peaks_by_name(&all[i], &all[end]); end++) {
            const peak_of **side = all[end].b ? &p.b : &p.a;
            *side = *side ? *side : &all[end];
            ran = ran || all[end].ran;
        }
        if (ran)
            pairs[made++] = p;
    }
    qsort(pairs, made, sizeof *pairs, by_pair_place);
    return made;
}

int cmp_memory(comparing *k)
{
    const vp_report *a = k->a.r, *b = k->b.r;
    size_t n = a->memory_count + a->memory_static_count + b->memory_count + b->memory_static_count;
    if (!n)
        return 0;
    peak_of *all = vp_arena_zalloc(k->arena, n * sizeof *all);
    peak_pair *pairs = vp_arena_zalloc(k->arena, n * sizeof *pairs);
    VP_NEED(all);
    VP_NEED(pairs);
    collect_peaks(all, collect_peaks(all, 0, a, false), b, true);
    n = pair_memory_peaks(pairs, all, n);
    k->c->memory = vp_arena_zalloc(k->arena, (n + 1) * sizeof *k->c->memory);
    VP_NEED(k->c->memory);
    for (size_t i = 0; i < n; i++)
        VP_TRY(add_memory_row(k, pairs[i].a, pairs[i].b));
    return 0;
}
