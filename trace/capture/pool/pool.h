/* The buffer of a recording: one mapping, whose file <run>/<host>.vpcap grows with its content
 * (pool_grow.h). Its layout is defined in trace/vpcap/vpcap_layout.h, and in
 * include/view_profile_capture_layout.h for the part that inlined macros write. The writer reads
 * the buffer at the end, vp_capture_past copies it, and it remains if the process dies: everything
 * below a chunk's published head is complete at any instant. Allocation takes no lock, so a thread
 * may be stopped anywhere and a signal handler may record. Private to the recorder; the recording
 * owns its pool. If the buffer is full, functions return NULL, 0 or false. */
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
    /* Ring: one item per 16 pages, for the chunk that begins there: its sequence number of sealing,
     * and its page; 0: not sealed. Only whole chunks are listed, and no two begin in the same 16
     * pages. */
    uint64_t *sealed;
    uint64_t *ended; /* ring: sequence number at which the thread ended whose first chunk is this
                        page; 0: it is alive */
    uint64_t seals;
    cap_grow grow;
    uint32_t firsts; /* first chunks handed out; a reused one counts once */
} cap_pool;

/* bytes: the limit for chunks; tables are additional. fd: a new file at `path`, which is mapped and
 * grows; -1: memory without a file. VP_ENOSPC, VP_EIO, VP_ENOMEM, VP_EARG. Initializes the header
 * except for times and names. */
int pool_open(cap_pool *p, size_t bytes, bool ring, int fd, const char *path);
/* Unmaps the image; does nothing if it is NULL. */
void pool_close(cap_pool *p);

/* Allocates a chunk of VP__FIRST_PAGES or VP__CHUNK_PAGES, or the smaller rest; NULL: the pool is
 * full. Only the pages in its head are set. Async-signal-safe. */
vp__chunk *pool_take(cap_pool *p, uint32_t pages);
/* Assigns the chunk to a thread. first: the thread's first chunk, which also contains its block. */
void pool_assign(cap_pool *p, vp__chunk *c, const vp__chunk *first, uint32_t order);
/* Marks a chunk as complete: all of its events ended by `now` (ticks). A ring may then reuse it,
 * unless it is its thread's first. last: the thread has ended, and unused pages are freed.
 * Async-signal-safe. */
void pool_seal(cap_pool *p, vp__chunk *c, uint64_t now, bool last);

/* Marks the thread of this first chunk as ended; a ring may then reuse the chunk. */
void pool_retire(cap_pool *p, vp__chunk *first);

/* Copies a string (truncated to VPCAP_STRING_MAX) into the image; NULL is "". false: full. */
bool pool_string(cap_pool *p, vpcap_ref *out, const char *s);
/* Allocates an entry of the list of open zones and returns its index from 1; 0: full. The caller
 * owns it until pool_open_give. Async-signal-safe. */
uint32_t pool_open_take(cap_pool *p);
void pool_open_give(cap_pool *p, uint32_t place);
vpcap_open_entry *pool_open_at(const cap_pool *p, uint32_t place);

/* Allocates `count` consecutive numbers for new names; 0: full. Their entries are not ready yet. */
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
