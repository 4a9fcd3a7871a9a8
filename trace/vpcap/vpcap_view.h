/* Internal structures of the image reader, shared by vpcap.c, which checks the image, and
 * vpcap_cursor.c, which iterates over one thread. */
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

/* Special pages: GONE represents all threads whose blocks were discarded, with their losses;
 * VPCAP_NONE is a single thread of which only chunks remain. */
#define VPCAP_GONE (UINT32_MAX - 1)

typedef struct vpcap_thread_ref {
    uint32_t page;       /* of its first chunk */
    uint32_t first, end; /* its chunk refs, by order */
    uint64_t events;     /* in these chunks, less `passed` */
    uint64_t passed;     /* events skipped because a ring's complete range begins after them */
    uint32_t slot;       /* slot of the first event to read in the first chunk; 0: its start */
    uint64_t number;     /* of the thread */
} vpcap_thread_ref;

/* An open zone from the image's table. */
typedef struct vpcap_open_zone {
    uint64_t thread, start;
    int64_t number;
    uint32_t block, name, kind;
} vpcap_open_zone;

struct vpcap {
    const char *image;
    vpcap_header head; /* a copy, so that a live writer cannot change checked values */
    vpcap_info info;
    uint64_t ps_per_tick; /* 32.32 fixed point */
    uint64_t plain_ticks; /* zones without items that start before end within VP_TIME_MAX_PS */
    vpcap_chunk_ref *chunks;
    size_t chunk_count, chunk_cap;
    vpcap_thread_ref *threads;
    size_t thread_count, thread_cap;
    vpcap_open_zone *open; /* by thread, then by start; empty unless interrupted */
    size_t open_count;
    uint64_t end_ticks; /* end of zones that never ended */
};

static inline const vp__chunk *vpcap_chunk_at(const vpcap *v, uint32_t page)
{
    return (const vp__chunk *)(v->image + v->head.chunks_at + (uint64_t)page * VP__PAGE);
}

static inline const vp__block *vpcap_block_at(const vpcap *v, uint32_t page)
{
    return (const vp__block *)(vpcap_chunk_at(v, page) + 1);
}

/* ticks * ps_per_tick in ps. Below plain_ticks the result does not exceed VP_TIME_MAX_PS. */
static inline int64_t vpcap_scaled(uint64_t ticks, uint64_t ps_per_tick)
{
    return (int64_t)((unsigned __int128)ticks * ps_per_tick >> 32);
}

/* Converts ticks to ps since the start, which may be negative; clamped to VP_TIME_MAX_PS. */
static inline int64_t vpcap_ps(const vpcap *v, uint64_t ticks)
{
    int64_t since = (int64_t)(ticks - v->head.start.ticks);
    uint64_t size = since < 0 ? 0 - (uint64_t)since : (uint64_t)since;
    unsigned __int128 ps = (unsigned __int128)size * v->ps_per_tick >> 32;
    int64_t bounded = ps > (unsigned __int128)VP_TIME_MAX_PS ? VP_TIME_MAX_PS : (int64_t)ps;
    return since < 0 ? -bounded : bounded;
}

/* Skips events from the thread's first chunk on that ended before these ticks (spans: were reported
 * before). Returns how many of the skipped events a chunk's state counts. *slot: the first other
 * event, or the end of that chunk if it has none. */
uint64_t vpcap_cursor_pass(uint32_t *slot, vpcap_cursor *c, uint64_t begin);

/* The latest time of the events read so far, without spans; ticks since the start. */
int64_t vpcap_cursor_last(const vpcap_cursor *c);

/* Number of entries of a table. */
static inline uint32_t vpcap_count_of(const vpcap_area *a)
{
    return a->used < a->cap ? a->used : a->cap;
}

/* A text in a header, which may lack a NUL. */
static inline vp_str vpcap_inline_text(const char *p, size_t cap)
{
    return (vp_str){p, strnlen(p, cap)};
}

#endif
