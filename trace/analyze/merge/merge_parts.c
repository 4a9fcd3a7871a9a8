#include "trace/analyze/merge/merge_parts.h"

#include <string.h>

#include "trace/base/sums.h"

const char *merge_text(merging *m, const char *s)
{
    const char *d = s ? vp_arena_strndup(m->arena, s, strlen(s)) : NULL;
    m->out_of_memory = m->out_of_memory || (s && !d);
    return d;
}

void *merge_room(merging *m, size_t n, size_t size)
{
    size_t bytes;
    void *p = NULL;
    if (n && !__builtin_mul_overflow(n, size, &bytes))
        p = vp_arena_zalloc(m->arena, bytes);
    m->out_of_memory = m->out_of_memory || (n && !p);
    return p;
}

void *merge_items(merging *m, const void *items, size_t n, size_t size)
{
    void *p = merge_room(m, n, size);
    if (p)
        memcpy(p, items, n * size);
    return p;
}

int64_t merge_time(const merge_part *p, int64_t ps)
{
    int64_t moved;
    if (ps == VP_NO_TIME)
        return ps;
    return __builtin_add_overflow(ps, p->shift_ps, &moved) ? ps : moved;
}

uint32_t merge_device(const merge_part *p, uint32_t device)
{
    return device < p->r->device_count ? p->device[device] : VP_NO_DEVICE;
}

void merge_sum(int64_t *sum, int64_t more)
{
    if (more == VP_UNKNOWN)
        return;
    *sum = vp_add_most(*sum == VP_UNKNOWN ? 0 : *sum, more);
}

int merge_order(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}
