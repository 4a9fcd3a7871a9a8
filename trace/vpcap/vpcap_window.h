/* Sorts events by start in bounded memory, given in the order of their ends; a part of vpcap_lines.
 *
 * After each block of 512 events the latest end so far is noted (vpcap_notes). Events that start
 * after the second-to-last note wait in the window. Other events are late, because they are long or
 * out of order, and do not enter the window. So after each block, every event that starts at or
 * before the last note can leave: no later event of the window starts before it, and what stays is
 * from the newest block. Entries do not move until they leave: blocks use the two halves in turn.
 *
 * vpcap_lines finds late events, and events of other lines (spans, counters), in an earlier
 * pass. */
#ifndef VP_IMAGE_VPCAP_WINDOW_H
#define VP_IMAGE_VPCAP_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/buf.h"
#include "trace/vpcap/vpcap.h"

/* Small enough for a window to stay in the L1 cache; only one event in hundreds encloses more. */
#define VW_BLOCK 512u

/* A sorted, linked sequence of entries. */
typedef struct vw_list {
    int64_t first, last; /* starts of the first and the last entry */
    uint32_t head, tail;
} vw_list;

typedef struct vw_window {
    /* 2 × VW_BLOCK items. more: 0 for a plain zone; else 1 + the offset of the event's bytes in the
     * buffer of its half, and `name` is their number. */
    vpcap_plain *entries;
    uint32_t *next, *order; /* as many */
    vw_list *lists;         /* a stack; lists[0] is a sentinel */
    uint32_t depth;
    uint32_t half, count; /* current half, and its number of entries */
    bool crossed;         /* the concatenated lists are not sorted */
    vp_buf bytes[2];
} vw_window;

int vw_init(vw_window *w);
void vw_free(vw_window *w);
void vw_clear(vw_window *w);

/* Space for the plain zones that the current block still accepts. */
static inline vpcap_plain *vw_room(vw_window *w)
{
    return &w->entries[w->half * VW_BLOCK + w->count];
}
/* Adds n zones that the caller wrote to vw_room. */
void vw_push(vw_window *w, uint32_t n);

/* Buffer for the bytes of the next event that is not plain. */
static inline vp_buf *vw_bytes(vw_window *w)
{
    return &w->bytes[w->half];
}
/* Adds an event whose bytes start at `offset` of vw_bytes. */
static inline void vw_add(vw_window *w, int64_t start, int64_t dur, size_t offset)
{
    uint32_t n = (uint32_t)(vw_bytes(w)->n - offset);
    *vw_room(w) = (vpcap_plain){start, dur, n, (uint32_t)offset + 1};
    vw_push(w, 1);
}

/* Call at the end of a block: all events that start at or before limit leave the window. Returns
 * their number or a negative code. They are the entries order[0], order[1] and so on, by start; of
 * equal starts the longer first. They are valid until vw_turn, which must be called before the next
 * block. */
int vw_leave(vw_window *w, int64_t limit);
void vw_turn(vw_window *w);
/* The bytes of an entry whose `more` is not 0. */
static inline vp_str vw_bytes_at(const vw_window *w, uint32_t entry)
{
    const vpcap_plain *e = &w->entries[entry];
    return (vp_str){w->bytes[entry / VW_BLOCK].p + (e->more - 1), e->name};
}

#endif
