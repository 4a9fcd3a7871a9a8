#include "trace/analyze/memory/rows.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/sums.h"

/* Rows after the named ones: "(others)", the rest, and a TPU's stack. */
#define UNNAMED 3u

int mem_rows_new(mem_rows *r, size_t holders)
{
    *r = (mem_rows){.v = vp_calloc(holders + 1, sizeof *r->v), .room = holders};
    VP_NEED(r->v);
    return 0;
}

void mem_rows_free(mem_rows *r)
{
    vp_free(r->v);
}

void mem_rows_add(mem_rows *r, uint32_t who, int64_t bytes, int64_t count)
{
    if (bytes <= 0 || r->n >= r->room)
        return;
    r->sum = vp_add_most(r->sum, bytes);
    r->v[r->n++] = (mem_row){who, {.bytes = bytes, .count = count, .step = VP_UNKNOWN}};
}

static int by_row_bytes(const void *a, const void *b)
{
    const mem_row *x = a, *y = b;
    if (x->item.bytes != y->item.bytes)
        return x->item.bytes > y->item.bytes ? -1 : 1;
    return (x->who > y->who) - (x->who < y->who);
}

void mem_rows_choose(mem_rows *r)
{
    qsort(r->v, r->n, sizeof *r->v, by_row_bytes);
    while (r->n > MEM_ROWS_MAX - UNNAMED) {
        const vp_memory_item *last = &r->v[--r->n].item;
        r->others = vp_add_most(r->others, last->bytes);
        r->others_count += last->count;
    }
}

static void put_memory_item(vp_memory *m, const char *name, int64_t bytes, int64_t count)
{
    if (bytes > 0)
        m->top[m->top_count++] =
            (vp_memory_item){.name = name, .bytes = bytes, .count = count, .step = VP_UNKNOWN};
}

/* If holders have more than the total, frees are missing: then holders are unknown. */
int mem_rows_give(vp_memory *m, vp_arena *arena, const mem_rows *r, const char *rest)
{
    int64_t left = m->peak_bytes;
    for (size_t i = 0; i < m->top_count; i++)
        left -= m->top[i].bytes;
    bool known = r->sum <= left;
    vp_memory_item *top = vp_arena_zalloc(arena, MEM_ROWS_MAX * sizeof *top);
    VP_NEED(top);
    for (size_t i = 0; i < m->top_count; i++)
        top[i] = m->top[i];
    m->top = top;
    for (size_t i = 0; known && i < r->n; i++)
        m->top[m->top_count++] = r->v[i].item;
    if (known)
        put_memory_item(m, "(others)", r->others, r->others_count);
    put_memory_item(m, known ? rest : "(unknown)", left - (known ? r->sum : 0), VP_UNKNOWN);
    return 0;
}
