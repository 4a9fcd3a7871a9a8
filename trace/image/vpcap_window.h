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
#include "trace/image/vpcap.h"

/* Small enough for a window to stay in the nearest cache; what encloses more events than that is
 * one in hundreds. */
#define VW_BLOCK 512u

/* A run of entries in order, linked. */
typedef struct vw_list {
    int64_t first, last; /* where the first and the last of them start */
    uint32_t head, tail;
} vw_list;

typedef struct vw_window {
    /* 2 × VW_BLOCK. more: 0, or 1 + where the event's bytes are in its half's buffer; name is then
     * how many. */
    vpcap_plain *entries;
    uint32_t *next, *order; /* as many */
    vw_list *lists;         /* a stack, above one that nothing comes before */
    uint32_t depth;
    uint32_t half, count; /* the half at hand, and what was put there */
    bool crossed;         /* the lists one after the other are not in order */
    vp_buf bytes[2];
} vw_window;

int vw_init(vw_window *w);
void vw_free(vw_window *w);
void vw_clear(vw_window *w);

/* Room for what the block at hand still takes of plain zones … */
static inline vpcap_plain *vw_room(vw_window *w)
{
    return &w->entries[w->half * VW_BLOCK + w->count];
}
/* … of which n were filled in. */
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

/* A block has ended: all that starts at or before limit leaves. How many those are: the entries
 * order[0] and so on, earlier starts first, of equal ones the longer. They are valid until vw_turn,
 * which is to be called before the next block. Or a negative code. */
int vw_leave(vw_window *w, int64_t limit);
void vw_turn(vw_window *w);
/* What was added with an entry that has more. */
static inline vp_str vw_bytes_at(const vw_window *w, uint32_t entry)
{
    const vpcap_plain *e = &w->entries[entry];
    return (vp_str){w->bytes[entry / VW_BLOCK].p + (e->more - 1), e->name};
}

#endif
