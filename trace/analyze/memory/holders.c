#include "trace/analyze/memory/holders.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/sums.h"

#define HOLDERS_MAX (1u << 29)
/* A step is evaluated when this many more have ended. */
#define STEPS_LATER 2

void mem_holders_free(mem_holders *h)
{
    vp_map_free(&h->by_address);
    vp_free(h->pieces);
    vp_free(h->v);
}

int mem_holders_room(mem_holders *h, uint32_t who)
{
    VP_TRY(vp_grow(&h->v, &h->cap, (size_t)who + 1, sizeof *h->v, HOLDERS_MAX));
    while (h->n <= who)
        h->v[h->n++] = (mem_holder){.peak = h->peak};
    return 0;
}

static void keep_peak(mem_holder *x, uint32_t peak)
{
    if (x->peak == peak)
        return;
    x->peak_bytes = x->bytes;
    x->peak_count = x->count;
    x->peak = peak;
}

static void holder_change(mem_holders *h, uint32_t who, int64_t bytes, int64_t count)
{
    mem_holder *x = &h->v[who];
    keep_peak(x, h->peak);
    x->bytes = vp_add_most(x->bytes, bytes);
    x->count += count;
}

const mem_piece *mem_holders_find(const mem_holders *h, uint64_t address)
{
    uint32_t i = vp_map_get(&h->by_address, address);
    return i != VP_MAP_NONE && h->pieces[i].live ? &h->pieces[i] : NULL;
}

const mem_piece *mem_holders_give(mem_holders *h, uint64_t address)
{
    uint32_t i = vp_map_get(&h->by_address, address);
    if (i == VP_MAP_NONE || !h->pieces[i].live)
        return NULL;
    h->pieces[i].live = false;
    holder_change(h, h->pieces[i].holder, -h->pieces[i].bytes, -1);
    return &h->pieces[i];
}

int mem_holders_take(mem_holders *h, uint64_t address, int64_t bytes, uint32_t who, int64_t at)
{
    uint32_t i = vp_map_get(&h->by_address, address);
    VP_TRY(mem_holders_room(h, who));
    mem_holders_give(h, address);
    if (i == VP_MAP_NONE) {
        VP_TRY(
            vp_grow(&h->pieces, &h->piece_cap, h->piece_n + 1, sizeof *h->pieces, UINT32_MAX - 1));
        i = (uint32_t)h->piece_n;
        VP_TRY(vp_map_set(&h->by_address, address, i));
        h->piece_n++;
    }
    h->pieces[i] = (mem_piece){bytes, at, who, true};
    holder_change(h, who, bytes, 1);
    return 0;
}

void mem_holders_at_peak(mem_holders *h)
{
    h->peak++;
}

void mem_holders_end(mem_holders *h)
{
    for (size_t i = 0; i < h->n; i++)
        keep_peak(&h->v[i], h->peak);
}

/* ---- Leaks ---- */

size_t mem_step_of(const mem_steps *s, int64_t at)
{
    size_t low = 0, high = s->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->end[mid] <= at)
            low = mid + 1;
        else
            high = mid;
    }
    return low < s->n && s->start[low] <= at ? low : s->n;
}

typedef struct left {
    uint32_t holder;
    size_t step;
    int64_t bytes;
} left;

static int by_left_holder(const void *a, const void *b)
{
    const left *x = a, *y = b;
    if (x->holder != y->holder)
        return x->holder < y->holder ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static int by_held_leak_bytes(const void *a, const void *b)
{
    const mem_leak *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->holder > y->holder) - (x->holder < y->holder);
}

static size_t add_up(mem_leak *out, const left *v, size_t n)
{
    size_t leaks = 0;
    for (size_t i = 0; i < n; i++) {
        bool same = i && v[i].holder == v[i - 1].holder;
        if (!same)
            out[leaks++] = (mem_leak){v[i].holder, 0, 0, 0};
        mem_leak *l = &out[leaks - 1];
        l->bytes = vp_add_most(l->bytes, v[i].bytes);
        l->count++;
        l->steps += !same || v[i].step != v[i - 1].step;
    }
    return leaks;
}

int mem_holders_leaks(mem_leak **out, size_t *n, int64_t *judged, const mem_holders *h,
                      const mem_steps *steps, const uint32_t *group)
{
    size_t last = steps->n > STEPS_LATER ? steps->n - STEPS_LATER : 0, count = 0;
    VP_CLEANUP(vp_free_ptr) left *v = vp_realloc_array(NULL, h->piece_n + 1, sizeof *v);
    mem_leak *leaks = vp_realloc_array(NULL, h->piece_n + 1, sizeof *leaks);
    if (!v || !leaks) {
        vp_free(leaks);
        return vp_no_memory();
    }
    for (size_t i = 0; i < h->piece_n; i++) {
        const mem_piece *p = &h->pieces[i];
        size_t step = p->live && p->bytes > 0 ? mem_step_of(steps, p->at) : last;
        if (step < last)
            v[count++] = (left){group ? group[p->holder] : p->holder, step, p->bytes};
    }
    qsort(v, count, sizeof *v, by_left_holder);
    *n = add_up(leaks, v, count);
    qsort(leaks, *n, sizeof *leaks, by_held_leak_bytes);
    *judged = (int64_t)last;
    *out = leaks;
    return 0;
}
