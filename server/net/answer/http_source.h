/* Bytes that are made while they are sent: what an answer streams, encodes and keeps. Included by
 * server/net, and by handlers through http.h. */
#ifndef VP_NET_HTTP_SOURCE_H
#define VP_NET_HTTP_SOURCE_H

#include <stddef.h>

/* Asked by one thread, that of the stream; who takes a source closes it, once. */
typedef struct http_source {
    /* 1: *p,*n is the next piece, valid until the next call; 0: the end; < 0: failed, and the
     * connection is cut so that the client knows. May block. */
    int (*next)(void *ctx, char **p, size_t *n);
    void (*close)(void *ctx);
    void *ctx;
} http_source;

#endif
