/* A producer thread that fills chunks ahead of the reader: a ring of four, reused, so that the
 * memory stays in the cache.
 *
 *   producer fills ──►  [full] [full] [filling] [held by the reader]  ──► reader takes
 *
 * One producer thread, one reader thread. The ring owns the chunks. */
#ifndef VP_READ_GZIP_RING_H
#define VP_READ_GZIP_RING_H

#include <stddef.h>
#include <stdint.h>

typedef struct gz_slot {
    char *data; /* a chunk (chunk.h) of VP_INFLATE_WINDOW bytes */
    size_t n;
    int64_t raw_done; /* progress of the stream below when the slot was filled */
} gz_slot;

/* Fills a slot: 1; 0 at the end, without filling it; < 0: failed. Called by the producer thread. */
typedef int gz_fill_fn(void *ctx, gz_slot *slot);

typedef struct gz_ring gz_ring;

/* Starts the producer. VP_ENOMEM, or VP_EBUSY if no thread can be started; then fill was not
 * called. */
int gz_ring_start(gz_ring **out, gz_fill_fn *fill, void *ctx);
/* Returns the next slot, valid until the next call. 1; 0 at the end; or the failure of fill. */
int gz_ring_next(gz_ring *r, gz_slot **slot);
/* Ends the thread after its current fill, and frees the ring. NULL is allowed. */
void gz_ring_stop(gz_ring *r);

#endif
