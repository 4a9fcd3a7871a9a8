/* Events that come by their ends, put in the order of their starts in bounded memory; a part of
 * vpcap_lines, which alone includes this.
 *
 * After each block of events the latest end so far is noted (vpcap_notes). What starts after the
 * note before the last one waits in the window; what starts no later is late: it is long, or out of
 * order, and not this window's business. So after each block all that starts before the last note
 * can leave: no later event of the window will start before it, and what stays is of the newest
 * block. An event stays where it was put until it leaves: blocks take the two halves in turn.
 *
 * Zones are recorded when they end and listed by their starts; a block has 512 events. What is too
 * long for that, and what stands on another line (spans, counters), vpcap_lines finds in a walk
 * before. */
#ifndef VP_IMAGE_VPCAP_WINDOW_H
#define VP_IMAGE_VPCAP_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/buf.h"
#include "trace/vpcap/vpcap.h"

/* Small enough for a window to stay in the nearest cache; what encloses more events than that is
 * one in hundreds. */
#define VW_BLOCK 512u

/* A run of entries in order, linked. */
typedef struct vw_list {
    int64_t first, last; /* where the first and the last of them start */
    uint32_t head, tail;
} vw_list;

typedef struct vw_window {
    /* 2 × VW_BLOCK of them. more: 0 for a plain zone; else 1 + where the event's bytes begin in the
     * buffer of its half, and name is then how many bytes these are. */
    vpcap_plain *entries;
    uint32_t *next, *order; /* as many */
    vw_list *lists;         /* a stack; before the lowest list nothing comes */
    uint32_t depth;
    uint32_t half, count; /* the half at hand, and what was put there */
    bool crossed;         /* the lists one after the other are not in order */
    vp_buf bytes[2];
} vw_window;

int vw_init(vw_window *w);
void vw_free(vw_window *w);
void vw_clear(vw_window *w);

/* Room for plain zones, as many as the block at hand still takes … */
static inline vpcap_plain *vw_room(vw_window *w)
{
    return &w->entries[w->half * VW_BLOCK + w->count];
}
/* … n of which the caller has filled in. */
void vw_push(vw_window *w, uint32_t n);

/* Where the next event's bytes go, if it is not plain. */
static inline vp_buf *vw_bytes(vw_window *w)
{
    return &w->bytes[w->half];
}
/* The bytes from `offset` of vw_bytes on are an event. */
static inline void vw_add(vw_window *w, int64_t start, int64_t dur, size_t offset)
{
    uint32_t n = (uint32_t)(vw_bytes(w)->n - offset);
    *vw_room(w) = (vpcap_plain){start, dur, n, (uint32_t)offset + 1};
    vw_push(w, 1);
}

/* To be called when a block has ended: all events that start at or before limit leave the window.
 * Returns how many they are, or a negative code: they are entries order[0], order[1] and so on, by
 * start, and of equal starts the longer first. They are valid until vw_turn, which must be called
 * before the next block. */
int vw_leave(vw_window *w, int64_t limit);
void vw_turn(vw_window *w);
/* The bytes that were added with an entry whose `more` is not 0. */
static inline vp_str vw_bytes_at(const vw_window *w, uint32_t entry)
{
    const vpcap_plain *e = &w->entries[entry];
    return (vp_str){w->bytes[entry / VW_BLOCK].p + (e->more - 1), e->name};
}

#endif
