/* The memory that a recording writes into: one mapping, whose file <run>/<host>.vpcap grows with
 * what is recorded (pool_grow.h). Its layout is in trace/vpcap/vpcap_layout.h and, for the part
 * that the macros fill in line, in include/view_profile_capture_layout.h. The writer reads it at
 * the end, vp_capture_past copies it, and it is what is left when the process dies: below a chunk's
 * published head everything is complete at any instant. Taking from it takes no lock, so that a
 * thread may be stopped anywhere, and a signal handler may record. Private to the recorder; the
 * recording owns its pool. */
#ifndef VP_CAPTURE_POOL_H
#define VP_CAPTURE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/capture/pool/pool_grow.h"
#include "trace/vpcap/vpcap_layout.h"

typedef struct cap_pool {
    char *image;
    size_t size;
    vpcap_header *head;
    bool ring;
    /* Ring: for the chunk that begins in these 16 pages, when it was sealed and its page; 0: it is
     * not sealed. Only whole chunks are listed, and no two of them begin in the same 16 pages. */
    uint64_t *sealed;
    uint64_t *ended; /* ring: when the thread ended whose first chunk is this page; 0: it lives */
    uint64_t seals;
    cap_grow grow;
    uint32_t firsts; /* first chunks given out; one that is given out again counts once */
} cap_pool;

/* bytes: the most that chunks may take; the tables come on top. fd: of a new file at `path`, which
 * is mapped and grows; -1: memory without a file. VP_ENOSPC, VP_EIO, VP_ENOMEM. Fills in the header
 * but for times and names. */
int pool_open(cap_pool *p, size_t bytes, bool ring, int fd, const char *path);
/* Unmaps it; does nothing where the image is NULL. */
void pool_close(cap_pool *p);

/* Takes a chunk of VP__FIRST_PAGES or VP__CHUNK_PAGES, or of what is left; NULL: the pool is full.
 * Only the pages in its head are set. Signal-safe. */
vp__chunk *pool_take(cap_pool *p, uint32_t pages);
/* Makes it a chunk of this thread. first: the thread's first one, whose block follows. */
void pool_assign(cap_pool *p, vp__chunk *c, const vp__chunk *first, uint32_t order);
/* To be called when a chunk is complete: what is in it had ended by `now` (ticks). In a ring it may
 * then be taken again, unless it is its thread's first. last: the thread has ended, and the pages
 * that it did not use are given back. Signal-safe. */
void pool_seal(cap_pool *p, vp__chunk *c, uint64_t now, bool last);

/* To be called when the thread of this first chunk has ended; in a ring the chunk may then be taken
 * again. */
void pool_retire(cap_pool *p, vp__chunk *first);

/* Copies a string (cut to VPCAP_STRING_MAX) into the image; NULL is "". false: no room. */
bool pool_string(cap_pool *p, vpcap_ref *out, const char *s);
/* A place on the list of open zones, from 1, whose entry is the caller's until it gives it back; 0:
 * no room. Signal-safe. */
uint32_t pool_open_take(cap_pool *p);
void pool_open_give(cap_pool *p, uint32_t place);
vpcap_open_entry *pool_open_at(const cap_pool *p, uint32_t place);

/* Takes `count` numbers for new names in a row; 0: no room. Their entries are not ready yet. */
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
