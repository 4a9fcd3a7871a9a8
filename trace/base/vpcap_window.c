#include "trace/base/vpcap_window.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

#define ENTRIES (2 * VW_BLOCK)
#define NONE UINT32_MAX
/* Of one block: 4,096 zones with 15 arguments of 4 KiB each are below. */
#define BYTES_MAX (UINT32_C(1) << 30)

int vw_init(vw_window *w)
{
    *w = (vw_window){.entries = vp_calloc(ENTRIES, sizeof *w->entries),
                     .spare = vp_calloc(ENTRIES, sizeof *w->spare),
                     .order = vp_calloc(ENTRIES, sizeof *w->order),
                     .heads = vp_calloc(ENTRIES, sizeof *w->heads),
                     .tails = vp_calloc(ENTRIES, sizeof *w->tails)};
    vp_buf_init(&w->bytes[0], BYTES_MAX);
    vp_buf_init(&w->bytes[1], BYTES_MAX);
    bool ok = w->entries && w->spare && w->order && w->heads && w->tails;
    return ok ? 0 : vp_fail(VP_ENOMEM, "out of memory");
}

void vw_free(vw_window *w)
{
    vp_free(w->entries);
    vp_free(w->spare);
    vp_free(w->order);
    vp_free(w->heads);
    vp_free(w->tails);
    vp_buf_free(&w->bytes[0]);
    vp_buf_free(&w->bytes[1]);
}

void vw_clear(vw_window *w)
{
    w->count = w->sorted = w->block = 0;
    w->bytes[0].n = w->bytes[1].n = 0;
}

/* b, which ended later, lies around a, or is to stand before it for another reason. */
static bool comes_after(const vw_entry *a, const vw_entry *b)
{
    return a->start > b->start || (a->start == b->start && a->dur <= b->dur && b->dur);
}

/* Zones nest, so the order by ends turns into that by starts with a stack of lists: a zone takes
 * what it encloses off the stack, where the latest lies on top, and goes in front. *sorted: the
 * lists one after the other are in order, which they are unless zones cross. */
static uint32_t stack_lists(vw_window *w, bool *sorted)
{
    vw_entry *v = w->entries;
    uint32_t depth = 0;
    *sorted = true;
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t rest = NONE, tail = i;
        while (depth && comes_after(&v[w->heads[depth - 1]], &v[i])) {
            depth--;
            if (rest == NONE)
                tail = w->tails[depth];
            else
                v[w->tails[depth]].next = rest;
            rest = w->heads[depth];
        }
        if (depth && v[w->tails[depth - 1]].start > v[i].start)
            *sorted = false;
        v[i].next = rest;
        w->heads[depth] = i;
        w->tails[depth++] = tail;
    }
    return depth;
}

static int compare(const void *pa, const void *pb, void *ctx)
{
    const vw_window *w = ctx;
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    const vw_entry *x = &w->entries[a], *y = &w->entries[b];
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->dur != y->dur)
        return x->dur > y->dur ? -1 : 1;
    return (a > b) - (a < b);
}

/* Zones that cross each other (VP_BEGIN and VP_END in an odd order) need a real sort: one list. */
static uint32_t sort_really(vw_window *w)
{
    for (uint32_t i = 0; i < w->count; i++)
        w->order[i] = i;
    qsort_r(w->order, w->count, sizeof *w->order, compare, w);
    for (uint32_t i = 0; i + 1 < w->count; i++)
        w->entries[w->order[i]].next = w->order[i + 1];
    w->heads[0] = w->order[0];
    w->tails[0] = w->order[w->count - 1];
    return 1;
}

/* Emits what starts by the limit, and moves the rest to the spare entries. */
static int walk_lists(vw_window *w, uint32_t depth, int64_t limit, vw_emit_fn *emit, void *ctx)
{
    const vw_entry *v = w->entries;
    uint32_t left = 0;
    for (uint32_t k = 0; k < depth; k++)
        for (uint32_t i = w->heads[k];; i = v[i].next) {
            if (v[i].start <= limit)
                VP_TRY(emit(ctx, &v[i]));
            else
                w->spare[left++] = v[i];
            if (i == w->tails[k])
                break;
        }
    w->count = w->sorted = left;
    return 0;
}

int vw_leave(vw_window *w, int64_t limit, vw_emit_fn *emit, void *ctx)
{
    vp_buf *bytes = vw_bytes(w);
    if (bytes->status < 0)
        return bytes->status;
    for (uint32_t i = w->sorted; i < w->count; i++) /* the buffer moves no more */
        w->entries[i].p = w->entries[i].offset == VW_PLAIN ? NULL : bytes->p + w->entries[i].offset;
    bool sorted;
    uint32_t depth = stack_lists(w, &sorted);
    VP_TRY(walk_lists(w, sorted ? depth : sort_really(w), limit, emit, ctx));
    vw_entry *old = w->entries;
    w->entries = w->spare;
    w->spare = old;
    w->block++;
    vw_bytes(w)->n = 0;
    return 0;
}
