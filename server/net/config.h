/* Configuration of the server, for its start and stop. Private to server.c and config.c. */
#ifndef VP_NET_CONFIG_H
#define VP_NET_CONFIG_H

#include "server/net/connection/listen.h"
#include "server/net/connection/loop.h"
#include "server/net/request/serving.h"
#include "server/net/server.h"

/* Threads that serve the first socket. */
#define HTTP_SHARED_LOOPS_MAX 4

struct http_server {
    http_serving serving;
    void (*cancel)(void *ctx); /* http_config; may be NULL */
    http_sockets sockets;
    /* several loops for the first socket, one for each other */
    http_loop *loops[HTTP_SHARED_LOOPS_MAX + HTTP_SOCKETS_MAX - 1];
    int loop_count;
    char *url, *token;
    char **hosts, **origins; /* the policy's */
};

/* Sets up sockets, token, policy, URL, counters and log of a server. http_unconfigure frees them,
 * also after a failure. */
int http_configure(http_server *s, const http_config *cfg);
void http_unconfigure(http_server *s);

#endif
