/* The server as its start and its end know it. Only server.c and config.c include this. */
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
    /* Several at the first socket, one at each other. */
    http_loop *loops[HTTP_SHARED_LOOPS_MAX + HTTP_SOCKETS_MAX - 1];
    int loop_count;
    char *url, *token;
    char **hosts, **origins; /* the policy's */
};

/* Sockets, token, policy, URL, counters and log of a server that is being started. What it made so
 * far is freed by http_unconfigure, also when it fails. */
int http_configure(http_server *s, const http_config *cfg);
void http_unconfigure(http_server *s);

#endif
