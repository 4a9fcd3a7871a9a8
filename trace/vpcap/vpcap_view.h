/* Inside the reading side of an image: shared by vpcap.c, which checks the whole, and
 * vpcap_cursor.c, which walks one thread. Nobody else includes it. */
#ifndef VP_IMAGE_VPCAP_VIEW_H
#define VP_IMAGE_VPCAP_VIEW_H

#include <string.h>

#include "trace/base/limits.h"
#include "trace/vpcap/vpcap.h"
#include "trace/vpcap/vpcap_layout.h"

typedef struct vpcap_chunk_ref {
    uint64_t thread;
    uint32_t block, order, page;
    uint32_t head; /* slots that were complete when the image was opened */
} vpcap_chunk_ref;

/* Instead of a page: GONE stands for all threads whose blocks were given up, by what they lost;
 * VPCAP_NONE for a single one of which there are still chunks. */
#define VPCAP_GONE (UINT32_MAX - 1)

typedef struct vpcap_thread_ref {
    uint32_t page;       /* of its first chunk */
    uint32_t first, end; /* its chunk refs, by order */
    uint64_t events;     /* in these chunks, less `passed` */
    uint64_t passed;     /* events that are left out because a ring begins after them */
    uint32_t slot;   /* where reading the first chunk begins, so that they are; 0: at its start */
    uint64_t number; /* of the thread */
} vpcap_thread_ref;

/* A zone that nobody ended, from the image's table of open zones. */
typedef struct vpcap_open_zone {
    uint64_t thread, start;
    int64_t number;
    uint32_t block, name, kind;
} vpcap_open_zone;

struct vpcap {
    const char *image;
    vpcap_header head; /* a copy: a live writer cannot change what was checked */
    vpcap_info info;
    uint64_t ps_per_tick; /* 32.32 fixed point */
    uint64_t plain_ticks; /* zones without items that start before end within VP_TIME_MAX_PS */
    vpcap_chunk_ref *chunks;
    size_t chunk_count, chunk_cap;
    vpcap_thread_ref *threads;
    size_t thread_count, thread_cap;
    vpcap_open_zone *open; /* by thread, then by start; none where nothing was cut off */
    size_t open_count;
    uint64_t end_ticks; /* when the zones end that nobody ended */
};

static inline const vp__chunk *vpcap_chunk_at(const vpcap *v, uint32_t page)
{
    return (const vp__chunk *)(v->image + v->head.chunks_at + (uint64_t)page * VP__PAGE);
}

static inline const vp__block *vpcap_block_at(const vpcap *v, uint32_t page)
{
    return (const vp__block *)(vpcap_chunk_at(v, page) + 1);
}

/* ticks * ps_per_tick in ps. Below plain_ticks the result is within VP_TIME_MAX_PS. */
static inline int64_t vpcap_scaled(uint64_t ticks, uint64_t ps_per_tick)
{
    return (int64_t)((unsigned __int128)ticks * ps_per_tick >> 32);
}

/* Ticks since the start, which may lie before it, in picoseconds within VP_TIME_MAX_PS. */
static inline int64_t vpcap_ps(const vpcap *v, uint64_t ticks)
{
    int64_t since = (int64_t)(ticks - v->head.start.ticks);
    uint64_t size = since < 0 ? 0 - (uint64_t)since : (uint64_t)since;
    unsigned __int128 ps = (unsigned __int128)size * v->ps_per_tick >> 32;
    int64_t bounded = ps > (unsigned __int128)VP_TIME_MAX_PS ? VP_TIME_MAX_PS : (int64_t)ps;
    return since < 0 ? -bounded : bounded;
}

/* Walks from the thread's first chunk on over what ended before these ticks (spans: was reported
 * before). Returns how many of the passed events a chunk's state counts. *slot: where the first
 * other event is, or the end of that chunk if it has none. */
uint64_t vpcap_cursor_pass(uint32_t *slot, vpcap_cursor *c, uint64_t begin);

/* The latest time in what the cursor has passed, spans aside; ticks since the start. */
int64_t vpcap_cursor_last(const vpcap_cursor *c);

/* How many entries a table has. */
static inline uint32_t vpcap_count_of(const vpcap_area *a)
{
    return a->used < a->cap ? a->used : a->cap;
}

/* A text in a header, which need not be terminated. */
static inline vp_str vpcap_inline_text(const char *p, size_t cap)
{
    return (vp_str){p, strnlen(p, cap)};
}

#endif
