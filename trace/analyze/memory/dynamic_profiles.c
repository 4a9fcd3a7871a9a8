#include "trace/analyze/memory/dynamic_profiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/analyze/memory/rows.h"
#include "trace/base/err.h"

/* Number of holders of the last profile that are tracked, the largest first. */
#define FOLLOWED_MAX 256u

static bool is_same_nullable(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static const pp_holder *find_profile_holder(const pp_profile *p, const pp_holder *like)
{
    for (size_t i = 0; i < p->holder_count; i++) {
        const pp_holder *h = &p->holders[i];
        if (is_same_nullable(h->function, like->function) &&
            is_same_nullable(h->source, like->source) && is_same_nullable(h->kind, like->kind) &&
            is_same_nullable(h->device, like->device))
            return h;
    }
    return NULL;
}

/* The growth of a holder of the last profile over all profiles; false: it shrank. */
static bool follow_holder_growth(vp_leak *out, pp_profile *const *v, size_t n,
                                 const pp_holder *last)
{
    int64_t before = 0, count = 0, first = 0;
    *out = (vp_leak){.bytes = 0};
    for (size_t i = 0; i < n; i++) {
        const pp_holder *h = find_profile_holder(v[i], last);
        int64_t bytes = h ? h->bytes : 0;
        if (i && bytes < before)
            return false;
        out->steps += i && bytes > before;
        if (!i) {
            first = bytes;
            count = h ? h->count : 0;
        }
        before = bytes;
    }
    out->bytes = last->bytes - first;
    out->count = last->count > count ? last->count - count : 1;
    return out->bytes > 0;
}

int mem_profile_holder(const char **out, vp_arena *arena, const pp_holder *h)
{
    const char *what = h->function ? h->function : h->kind ? h->kind : "(unknown)";
    *out = vp_arena_strndup(arena, what, strlen(what));
    VP_NEED(*out);
    return 0;
}

static int by_leak_bytes(const void *a, const void *b)
{
    const vp_leak *x = a, *y = b;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static int name_leak(vp_leak *l, vp_arena *arena, const pp_holder *h)
{
    VP_TRY(mem_profile_holder(&l->name, arena, h));
    l->source = h->source ? vp_arena_strndup(arena, h->source, strlen(h->source)) : NULL;
    return h->source && !l->source ? vp_no_memory() : 0;
}

int mem_profile_growth(vp_memory *m, vp_arena *arena, pp_profile *const *v, size_t n,
                       const char *device)
{
    const pp_profile *last = v[n - 1];
    m->leak_steps = (int64_t)n - 1;
    m->leaks = vp_arena_zalloc(arena, FOLLOWED_MAX * sizeof *m->leaks);
    VP_NEED(m->leaks);
    for (size_t i = 0; i < last->holder_count && i < FOLLOWED_MAX; i++) {
        const pp_holder *h = &last->holders[i];
        vp_leak *l = &m->leaks[m->leak_count];
        if (!is_same_nullable(h->device, device) || !follow_holder_growth(l, v, n, h))
            continue;
        VP_TRY(name_leak(l, arena, h));
        m->leak_count++;
    }
    qsort(m->leaks, m->leak_count, sizeof *m->leaks, by_leak_bytes);
    m->leak_count = m->leak_count < MEM_ROWS_MAX ? m->leak_count : MEM_ROWS_MAX;
    return 0;
}
