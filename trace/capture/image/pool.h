/* The memory that a recording writes into: one mapping, whose file grows with it (pool_grow.h),
 * laid out as trace/image/vpcap_layout.h says. What takes from it takes no lock, so that a thread
 * may be stopped anywhere, and a signal handler may record. Private to the recorder; the recording
 * owns its pool.
 *
 * All that a recording knows lies in one mapping, a file <run>/<host>.vpcap that grows with what is
 * recorded (its layout: image/vpcap_layout.h and, for the part that the macros fill in line,
 * include/view_profile_capture_layout.h). It is what the writer reads at the end, what
 * vp_capture_past copies, and what is left when the process dies. Below a chunk's published head
 * everything is complete at any instant. */
#ifndef VP_CAPTURE_POOL_H
#define VP_CAPTURE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/capture/image/pool_grow.h"
#include "trace/image/vpcap_layout.h"

typedef struct cap_pool {
    char *image;
    size_t size;
    vpcap_header *head;
    bool ring;
    /* Ring: of the chunk that begins in these 16 pages, when it was sealed and its page; 0: it is
     * not. Only whole chunks are here, and two of those never begin in the same 16 pages. */
    uint64_t *sealed;
    uint64_t *ended; /* ring: of the first chunk in this page, when its thread ended; 0: it lives */
    uint64_t seals;
    cap_grow grow;
    uint32_t firsts; /* first chunks given out, those given out again not counted */
} cap_pool;

/* bytes: of chunks, at most; the tables come on top. fd: of a new file at `path`, which is mapped
 * and grows; -1: memory. VP_ENOSPC, VP_EIO, VP_ENOMEM. Fills in all of the header but times and
 * names. */
int pool_open(cap_pool *p, size_t bytes, bool ring, int fd, const char *path);
/* The mapping goes; NULL image: nothing. */
void pool_close(cap_pool *p);

/* A chunk of VP__FIRST_PAGES or VP__CHUNK_PAGES, or what is left; NULL: full. Its head says which
 * pages it has, and nothing else yet. Signal-safe. */
vp__chunk *pool_take(cap_pool *p, uint32_t pages);
/* Makes it a chunk of this thread. first: the thread's first one, whose block follows. */
void pool_assign(cap_pool *p, vp__chunk *c, const vp__chunk *first, uint32_t order);
/* No more is written to it, and what was, ended by `now` (ticks); in a ring it may be taken again,
 * unless it is its thread's first. last: its thread ended, and what it did not use goes back.
 * Signal-safe. */
void pool_seal(cap_pool *p, vp__chunk *c, uint64_t now, bool last);

/* The thread of this first chunk ended; in a ring it may be taken again. */
void pool_retire(cap_pool *p, vp__chunk *first);

/* Copies a string (cut to VPCAP_STRING_MAX) into the image; NULL is "". false: no room. */
bool pool_string(cap_pool *p, vpcap_ref *out, const char *s);
/* A place on the list of open zones, from 1, whose entry is the caller's until it gives it back; 0:
 * no room. Signal-safe. */
uint32_t pool_open_take(cap_pool *p);
void pool_open_give(cap_pool *p, uint32_t place);
vpcap_open_entry *pool_open_at(const cap_pool *p, uint32_t place);

/* Numbers of `count` new names in a row; 0: no room. Their entries are not ready. */
uint32_t pool_names(cap_pool *p, uint32_t count);
vpcap_name_entry *pool_name(cap_pool *p, uint32_t name);

static inline uint32_t pool_page_of(const cap_pool *p, const vp__chunk *c)
{
    return (uint32_t)((uint64_t)((const char *)c - (p->image + p->head->chunks_at)) / VP__PAGE);
}

static inline vp__chunk *pool_chunk(const cap_pool *p, uint32_t page)
{
    return (vp__chunk *)(void *)(p->image + p->head->chunks_at + (uint64_t)page * VP__PAGE);
}

static inline vp__block *pool_block(vp__chunk *first)
{
    return (vp__block *)(void *)(first + 1);
}

#endif
