/* Chunks made ahead in a thread of its own: a ring of four, reused, so that the memory stays hot.
 *
 *   producer fills ──►  [full] [full] [filling] [held by the reader]  ──► reader takes
 *
 * One producer thread, one reader thread. */
#ifndef VP_READ_GZIP_RING_H
#define VP_READ_GZIP_RING_H

#include <stddef.h>
#include <stdint.h>

typedef struct gz_slot {
    char *data; /* a chunk (chunk.h) of VP_INFLATE_WINDOW bytes */
    size_t n;
    int64_t raw_done; /* progress of the stream below when the slot was filled */
} gz_slot;

/* Fills a slot: 1, 0 at the end (nothing filled), < 0 failed. Called by the producer thread. */
typedef int gz_fill_fn(void *ctx, gz_slot *slot);

typedef struct gz_ring gz_ring;

/* VP_ENOMEM, or VP_EBUSY when the system gives no thread; then nothing was called. */
int gz_ring_start(gz_ring **out, gz_fill_fn *fill, void *ctx);
/* The next slot, valid until the next call. 1, 0 at the end, or what fill failed with. */
int gz_ring_next(gz_ring *r, gz_slot **slot);
/* Ends the thread after the fill it is in, and frees. NULL is fine. */
void gz_ring_stop(gz_ring *r);

#endif
