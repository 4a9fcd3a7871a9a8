/* A source of bytes that are generated while they are sent; responses stream, encode and cache it.
 */
#ifndef VP_NET_HTTP_SOURCE_H
#define VP_NET_HTTP_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

/* Used by one thread, that of the stream. The owner of a source closes it once. */
typedef struct http_source {
    /* 1: *p,*n is the next piece, valid until the next call; 0: end; < 0: failed, and the
     * connection is closed so that the client notices. Can block. */
    int (*next)(void *ctx, char **p, size_t *n);
    void (*close)(void *ctx);
    void *ctx;
    /* Called before the first piece if the client can disconnect: gone(of) is true if it has,
     * callable from any thread until the source is closed. NULL: not needed. */
    void (*client)(void *ctx, bool (*gone)(const void *of), const void *of);
    /* Set before the end if the delivered bytes are incomplete for a temporary reason: the response
     * is valid but is not cached. NULL: always complete. */
    const bool *lacking;
} http_source;

#endif
