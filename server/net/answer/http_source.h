/* Bytes that are made while they are sent: what an answer streams, encodes and keeps. */
#ifndef VP_NET_HTTP_SOURCE_H
#define VP_NET_HTTP_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

/* Asked by one thread, that of the stream; who takes a source closes it, once. */
typedef struct http_source {
    /* 1: *p,*n is the next piece, valid until the next call; 0: the end; < 0: failed, and the
     * connection is cut so that the client knows. May block. */
    int (*next)(void *ctx, char **p, size_t *n);
    void (*close)(void *ctx);
    void *ctx;
    /* Called before the first piece, where the client may leave: gone(of) says whether it has, to
     * any thread, until the source is closed. NULL: the source has no use for it. */
    void (*client)(void *ctx, bool (*gone)(const void *of), const void *of);
    /* Set before the end where what was delivered lacks something that another try may have: the
     * answer is good, but is not kept. NULL: it never does. */
    const bool *lacking;
} http_source;

#endif
