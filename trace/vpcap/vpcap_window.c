#include "trace/vpcap/vpcap_window.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

#define ENTRIES (2 * VW_BLOCK)
#define NONE UINT32_MAX
/* Bytes of one block; 512 events with 15 arguments of 4 KiB each take 30 MiB. */
#define BYTES_MAX (UINT32_C(1) << 30)

int vw_init(vw_window *w)
{
    *w = (vw_window){.entries = vp_calloc(ENTRIES, sizeof *w->entries),
                     .next = vp_calloc(ENTRIES, sizeof *w->next),
                     .order = vp_calloc(ENTRIES, sizeof *w->order),
                     .lists = vp_calloc(ENTRIES + 1, sizeof *w->lists)};
    vp_buf_init(&w->bytes[0], BYTES_MAX);
    vp_buf_init(&w->bytes[1], BYTES_MAX);
    VP_NEED(w->entries && w->next && w->order && w->lists);
    w->lists[0] = (vw_list){INT64_MIN, INT64_MIN, NONE, NONE};
    return 0;
}

void vw_free(vw_window *w)
{
    vp_free(w->entries);
    vp_free(w->next);
    vp_free(w->order);
    vp_free(w->lists);
    vp_buf_free(&w->bytes[0]);
    vp_buf_free(&w->bytes[1]);
}

void vw_clear(vw_window *w)
{
    w->depth = w->half = w->count = 0;
    w->crossed = false;
    w->bytes[0].n = w->bytes[1].n = 0;
}

/* True if b, which ended later, precedes a although both start at the same time: b encloses a. */
static bool lies_around(const vpcap_plain *b, const vpcap_plain *a)
{
    return a->dur_ps <= b->dur_ps && b->dur_ps;
}

/* Converts the order of ends to the order of starts, with a stack of lists. Zones nest: a zone pops
 * the lists of the zones that it encloses, the latest of which is on top, and becomes their head.
 * The concatenated lists are then sorted, unless zones cross. */
void vw_push(vw_window *w, uint32_t n)
{
    const vpcap_plain *v = w->entries;
    uint32_t *next = w->next, at = w->half * VW_BLOCK + w->count;
    vw_list *top = w->lists + w->depth;
    bool crossed = w->crossed;
    for (uint32_t end = at + n; at < end; at++) {
        int64_t start = v[at].start_ps;
        vw_list own = {start, start, at, at};
        uint32_t rest = NONE;
        for (; top->first > start || (top->first == start && lies_around(&v[at], &v[top->head]));
             top--) {
            next[top->tail] = rest;
            own.tail = rest == NONE ? top->tail : own.tail;
            own.last = rest == NONE ? top->last : own.last;
            rest = top->head;
        }
        if (top->last > start || (top->last == start && lies_around(&v[at], &v[top->tail])))
            crossed = true;
        next[at] = rest;
        *++top = own;
    }
    w->depth = (uint32_t)(top - w->lists);
    w->crossed = crossed;
    w->count += n;
}

/* Position of an entry in the order of ends: the current half is the newer one. */
static uint32_t arrival_order(const vw_window *w, uint32_t entry)
{
    return w->half ? entry : entry ^ VW_BLOCK;
}

/* Order of starts; entries with equal starts are ordered by nesting. */
static int compare_window_starts(const void *pa, const void *pb, void *ctx)
{
    const vw_window *w = ctx;
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    const vpcap_plain *x = &w->entries[a], *y = &w->entries[b];
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    if (x->dur_ps != y->dur_ps)
        return x->dur_ps > y->dur_ps ? -1 : 1;
    bool later = arrival_order(w, a) > arrival_order(w, b);
    return later == (x->dur_ps != 0) ? -1 : 1;
}

/* Sorts zones that cross (VP_BEGIN and VP_END in an unusual order). Each one that stays becomes a
 * list of its own. */
static uint32_t leave_crossed(vw_window *w, int64_t limit)
{
    uint32_t all = 0, left = 0;
    for (uint32_t k = 1; k <= w->depth; k++)
        for (uint32_t i = w->lists[k].head; i != NONE; i = w->next[i])
            w->order[all++] = i;
    qsort_r(w->order, all, sizeof *w->order, compare_window_starts, w);
    while (left < all && w->entries[w->order[left]].start_ps <= limit)
        left++;
    w->depth = 0;
    w->crossed = false;
    for (uint32_t k = left; k < all; k++) {
        uint32_t i = w->order[k];
        int64_t start = w->entries[i].start_ps;
        w->next[i] = NONE;
        w->lists[++w->depth] = (vw_list){start, start, i, i};
    }
    return left;
}

int vw_leave(vw_window *w, int64_t limit)
{
    vw_list *list = w->lists + 1, *end = list + w->depth;
    uint32_t *order = w->order, n = 0;
    if (vw_bytes(w)->status < 0)
        return vw_bytes(w)->status;
    if (w->crossed)
        return (int)leave_crossed(w, limit);
    for (; list < end && list->first <= limit; list++) {
        uint32_t i = list->head;
        bool whole = list->last <= limit;
        for (; i != NONE && (whole || w->entries[i].start_ps <= limit); i = w->next[i])
            order[n++] = i;
        if (i == NONE)
            continue;
        list->head = i;
        list->first = w->entries[i].start_ps;
        break;
    }
    w->depth = (uint32_t)(end - list);
    memmove(w->lists + 1, list, w->depth * sizeof *list);
    return (int)n;
}

void vw_turn(vw_window *w)
{
    w->half ^= 1;
    w->count = 0;
    vw_bytes(w)->n = 0;
}
