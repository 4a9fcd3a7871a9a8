#include "trace/export/pftrace/pft_ends.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

static void sink_down(pft_end *heap, size_t count)
{
    size_t i = 0, child;
    pft_end top = heap[0];
    while ((child = 2 * i + 1) < count) {
        child += child + 1 < count && heap[child + 1].at_ns < heap[child].at_ns;
        if (heap[child].at_ns >= top.at_ns)
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = top;
}

static int ends_heap_push(pft_end **heap, size_t *count, size_t *cap, pft_end e)
{
    VP_TRY(vp_grow(heap, cap, *count + 1, sizeof **heap, VP_EVENTS_MAX));
    size_t i = (*count)++;
    for (size_t up; i && (*heap)[up = (i - 1) / 2].at_ns > e.at_ns; i = up)
        (*heap)[i] = (*heap)[up];
    (*heap)[i] = e;
    return 0;
}

int pft_ends_add(pft_ends *e, int64_t at_ns, uint64_t track)
{
    if (!e->depth || e->stack[e->depth - 1].at_ns >= at_ns) {
        if (e->depth == e->stack_cap)
            VP_TRY(
                vp_grow(&e->stack, &e->stack_cap, e->depth + 1, sizeof *e->stack, VP_EVENTS_MAX));
        e->stack[e->depth++] = (pft_end){at_ns, track};
        return 0;
    }
    return ends_heap_push(&e->heap, &e->count, &e->cap, (pft_end){at_ns, track});
}

int pft_ends_until(pft_ends *e, pft_writer *w, int64_t at_ns)
{
    for (;;) {
        const pft_end *top = e->depth ? &e->stack[e->depth - 1] : NULL;
        const pft_end *root = e->count ? e->heap : NULL;
        bool nested = top && (!root || top->at_ns <= root->at_ns);
        const pft_end *next = nested ? top : root;
        if (!next || next->at_ns > at_ns)
            return 0;
        VP_TRY(pft_slice_end(w, next->track, next->at_ns));
        if (nested) {
            e->depth--;
            continue;
        }
        e->heap[0] = e->heap[--e->count];
        if (e->count)
            sink_down(e->heap, e->count);
    }
}

void pft_ends_free(pft_ends *e)
{
    vp_free(e->heap);
    vp_free(e->stack);
    *e = (pft_ends){0};
}

int pft_pool_take(pft_pool *p, int64_t start_ns, int64_t end_ns, uint64_t next, uint64_t *track,
                  bool *fresh)
{
    *fresh = !p->count || p->heap[0].at_ns > start_ns;
    *track = *fresh ? next : p->heap[0].track;
    if (*fresh)
        return ends_heap_push(&p->heap, &p->count, &p->cap, (pft_end){end_ns, next});
    p->heap[0].at_ns = end_ns;
    sink_down(p->heap, p->count);
    return 0;
}

void pft_pool_free(pft_pool *p)
{
    vp_free(p->heap);
    *p = (pft_pool){0};
}
