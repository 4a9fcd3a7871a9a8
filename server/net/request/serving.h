/* What the requests and connections of one server share: what was settled before the first of them
 * came, what is counted, and the parts of the server, each of which the header of its own name
 * defines. server.c makes and frees it. */
#ifndef VP_NET_SERVING_H
#define VP_NET_SERVING_H

#include <stdatomic.h>

#include "server/net/request/guard.h"
#include "server/net/request/handler.h"

/* Longer than any that a proxy is given. */
#define HTTP_PREFIX_MAX 128u

struct access_log;
struct http_cache;
struct http_flows;
struct http_memo;
struct http_metrics;
struct http_peers;
struct http_pool;
struct http_watchdog;

typedef struct http_serving {
    guard_policy policy; /* its token is NULL where clients are known by their user */
    const http_route *routes;
    void *ctx;
    int (*refused)(http_req *rq, int status, const char *why); /* http_config; may be NULL */
    char prefix[HTTP_PREFIX_MAX];                              /* "" or "/x" */
    char *content_policy; /* http_config; NULL: that of our own pages */

    struct http_metrics *metrics;
    struct access_log *log; /* NULL: none is kept */
    struct http_peers *peers;
    struct http_watchdog *watchdog;
    struct http_pool *pool;
    struct http_cache *cache;
    struct http_memo *memo;
    struct http_flows *flows;

    _Atomic int active; /* requests whose head has come, and that are not over */
    _Atomic bool stopping;
} http_serving;

#endif
