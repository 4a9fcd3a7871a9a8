/* State shared by the requests and connections of a server: configuration, counters, and the parts
 * of the server, which are defined in the headers of their names. server.c creates and frees it. */
#ifndef VP_NET_SERVING_H
#define VP_NET_SERVING_H

#include <stdatomic.h>

#include "server/net/request/guard.h"
#include "server/net/request/handler.h"

/* Longer than any prefix in practice. */
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
    guard_policy policy; /* its token is NULL if clients are identified by their user */
    const http_route *routes;
    void *ctx;
    int (*refused)(http_req *rq, int status, const char *why); /* http_config; may be NULL */
    char prefix[HTTP_PREFIX_MAX];                              /* "" or "/x" */
    char *content_policy; /* from http_config; NULL: the policy of our pages */

    struct http_metrics *metrics;
    struct access_log *log; /* NULL: no log */
    struct http_peers *peers;
    struct http_watchdog *watchdog;
    struct http_pool *pool;
    struct http_cache *cache;
    struct http_memo *memo;
    struct http_flows *flows;

    _Atomic int active; /* requests whose head was received, not finished */
    _Atomic bool stopping;
} http_serving;

#endif
