/* Allocators of two reports: their peaks, and who holds more of it. */
#include "trace/analyze/compare/compare_parts.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/sums.h"

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* Of the hosts' allocators of that name the fullest; NULL: there is none. */
static const vp_memory *fullest(const vp_report *r, const char *name)
{
    const vp_memory *found = NULL;
    for (size_t i = 0; i < r->memory_count; i++) {
        const vp_memory *m = &r->memory[i];
        if (same(m->allocator, name) && (!found || m->peak_bytes > found->peak_bytes))
            found = m;
    }
    return found;
}

/* Holders of all steps in which one call was made are one. */
static void add_holders(comparing *k, vp_compared_memory *x, const vp_memory *m, bool b)
{
    for (size_t i = 0; m && i < m->top_count; i++) {
        const vp_memory_item *item = &m->top[i];
        size_t at = 0;
        while (at < x->holder_count &&
               !(same(x->holders[at].name, item->name) && same(x->holders[at].scope, item->scope) &&
                 same(x->holders[at].source, item->source)))
            at++;
        vp_compared_holder *h = &x->holders[at];
        if (at == x->holder_count) {
            x->holder_count++;
            h->name = cmp_text(k, item->name);
            h->scope = cmp_text(k, item->scope);
            h->source = cmp_text(k, item->source);
        }
        int64_t *bytes = b ? &h->b_bytes : &h->a_bytes;
        *bytes = vp_add_most(*bytes, item->bytes);
    }
}

static int64_t size_of(int64_t delta)
{
    return delta < 0 ? -delta : delta;
}

static int by_delta(const void *a, const void *b)
{
    const vp_compared_holder *x = a, *y = b;
    int64_t p = size_of(x->delta_bytes), q = size_of(y->delta_bytes);
    if (p != q)
        return p > q ? -1 : 1;
    if (x->a_bytes != y->a_bytes)
        return x->a_bytes > y->a_bytes ? -1 : 1;
    return x->name && y->name ? strcmp(x->name, y->name) : 0;
}

static int add_row(comparing *k, const char *name)
{
    const vp_memory *a = fullest(k->a.r, name), *b = fullest(k->b.r, name);
    vp_compared_memory *x = &k->c->memory[k->c->memory_count++];
    *x = (vp_compared_memory){.allocator = cmp_text(k, name),
                              .a_bytes = a ? a->peak_bytes : VP_UNKNOWN,
                              .b_bytes = b ? b->peak_bytes : VP_UNKNOWN,
                              .delta_bytes = a && b ? b->peak_bytes - a->peak_bytes : VP_NO_TIME};
    size_t room = (a ? a->top_count : 0) + (b ? b->top_count : 0);
    x->holders = vp_arena_zalloc(k->arena, (room + 1) * sizeof *x->holders);
    VP_NEED(x->holders);
    if (!a || !b)
        return 0;
    add_holders(k, x, a, false);
    add_holders(k, x, b, true);
    for (size_t i = 0; i < x->holder_count; i++)
        x->holders[i].delta_bytes = x->holders[i].b_bytes - x->holders[i].a_bytes;
    qsort(x->holders, x->holder_count, sizeof *x->holders, by_delta);
    return 0;
}

/* A name is listed once, where it stands first. */
static bool is_first(const vp_report *r, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (same(r->memory[k].allocator, r->memory[i].allocator))
            return false;
    return true;
}

int cmp_memory(comparing *k)
{
    const vp_report *a = k->a.r, *b = k->b.r;
    size_t room = a->memory_count + b->memory_count;
    if (!room)
        return 0;
    k->c->memory = vp_arena_zalloc(k->arena, room * sizeof *k->c->memory);
    VP_NEED(k->c->memory);
    for (size_t i = 0; i < a->memory_count; i++)
        if (is_first(a, i))
            VP_TRY(add_row(k, a->memory[i].allocator));
    for (size_t i = 0; i < b->memory_count; i++)
        if (is_first(b, i) && !fullest(a, b->memory[i].allocator))
            VP_TRY(add_row(k, b->memory[i].allocator));
    return 0;
}
