/* Events that come by their ends, put in the order of their starts in bounded memory; a part of
 * vpcap_lines, which alone includes this.
 *
 * After each block of events the latest end so far is noted. What starts after the note before the
 * last one waits in the window; what starts no later is late: it is long, or out of order, and not
 * this window's business. So after each block all that starts before the last note can leave: no
 * later event of the window will start before it, and what stays is of the newest block. */
#ifndef VP_BASE_VPCAP_WINDOW_H
#define VP_BASE_VPCAP_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/buf.h"

#define VW_BLOCK 1024u

/* The notes: the same sequence of events always gives the same answers. */
typedef struct vw_limit {
    int64_t limit, previous, latest;
    uint32_t in_block;
} vw_limit;
#define VW_LIMIT_INIT                                                                              \
    (vw_limit)                                                                                     \
    {                                                                                              \
        INT64_MIN, INT64_MIN, INT64_MIN, 0                                                         \
    }

static inline bool vw_is_late(const vw_limit *m, int64_t start)
{
    return start <= m->limit;
}

/* Notes an event, late or not; true: a block has ended and the limit has moved. */
static inline bool vw_note(vw_limit *m, int64_t end)
{
    if (end > m->latest)
        m->latest = end;
    if (++m->in_block < VW_BLOCK)
        return false;
    m->in_block = 0;
    m->limit = m->previous;
    m->previous = m->latest;
    return true;
}

typedef struct vw_entry {
    int64_t start, dur;
    const char *p; /* what was added with it; stable once its block has ended. NULL: plain */
    uint32_t n;    /* bytes there, or the name of a plain one */
    uint32_t next, offset;
} vw_entry;

#define VW_PLAIN UINT32_MAX /* vw_entry.offset */

typedef struct vw_window {
    vw_entry *entries, *spare; /* 2 × VW_BLOCK of each */
    uint32_t *order, *heads, *tails;
    uint32_t count, sorted; /* the first `sorted` are left of the last block, in order */
    vp_buf bytes[2];        /* of the block at hand and of the one before, in turn */
    unsigned block;
} vw_window;

int vw_init(vw_window *w);
void vw_free(vw_window *w);
void vw_clear(vw_window *w);
/* Where the next event's bytes go. */
static inline vp_buf *vw_bytes(vw_window *w)
{
    return &w->bytes[w->block & 1];
}
/* The bytes from `offset` of vw_bytes on are an event. */
static inline void vw_add(vw_window *w, int64_t start, int64_t dur, size_t offset)
{
    vw_entry *e = &w->entries[w->count++];
    e->start = start;
    e->dur = dur;
    e->offset = (uint32_t)offset;
    e->n = (uint32_t)(vw_bytes(w)->n - offset);
}

static inline void vw_add_plain(vw_window *w, int64_t start, int64_t dur, uint32_t name)
{
    vw_entry *e = &w->entries[w->count++];
    e->start = start;
    e->dur = dur;
    e->offset = VW_PLAIN;
    e->n = name;
}

typedef int vw_emit_fn(void *ctx, const vw_entry *e);
/* A block has ended: all that starts at or before limit goes to emit in order (earlier starts
 * first, of equal ones the longer), the rest stays. */
int vw_leave(vw_window *w, int64_t limit, vw_emit_fn *emit, void *ctx);

#endif
