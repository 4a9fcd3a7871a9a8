/* A route and its handler, and what a handler may ask of its request. The request belongs to the
 * server; what is returned lives as long as the request. */
#ifndef VP_NET_HANDLER_H
#define VP_NET_HANDLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/buf.h"
#include "trace/base/str.h"

typedef struct http_req http_req;

/* Answers the request; a negative return is answered from vp_error_last() (http_error). */
typedef int http_handler(http_req *rq);

enum { HTTP_GET = 1, HTTP_POST = 2 }; /* GET includes HEAD */

enum {
    HTTP_SLOW = 1, /* the handler may block: run it on a worker */
    HTTP_CORS = 2, /* allow-listed origins may read it: trace routes only */
    HTTP_OPEN = 4, /* needs no token: liveness only, never data */
    HTTP_API = 8   /* failures are JSON */
};

typedef struct http_route {
    unsigned methods;
    const char *pattern; /* "/session/{}/": {} is one segment; without the '/' that ends a
                            pattern the client is redirected, with one too many it is 404 */
    http_handler *handler;
    unsigned flags;
} http_route;

void *http_ctx(const http_req *rq);
bool http_is_post(const http_req *rq);
/* The text of the i-th "{}" of the pattern, percent-decoded once: valid UTF-8 without '/', '\',
 * control characters, "." or "..". NULL when there are fewer. */
const char *http_param(const http_req *rq, size_t i);
/* The first value of a query key, decoded; NULL when absent. */
const char *http_query(const http_req *rq, const char *key);
/* The i-th value of a key that may be there several times. */
const char *http_query_at(const http_req *rq, const char *key, size_t i);
/* The first value of a header, or NULL. */
const char *http_header(const http_req *rq, const char *name);
/* "http://127.0.0.1:9001": how this client addresses us (a Host that passed the guard; else ""). */
const char *http_base_url(const http_req *rq);
/* From the page that was asked for to the root of the site, as a relative path without the slash
 * at its end ("." or "../.."): links made with it hold behind any prefix of a proxy. */
const char *http_root(const http_req *rq);
uint16_t http_port(const http_req *rq);
vp_str http_body(const http_req *rq); /* of a POST; at most VP_HTTP_BODY_MAX */
/* Appends what the server counts about its answers, in Prometheus' text format. */
void http_put_metrics(const http_req *rq, vp_buf *b);
/* For slow handlers: whether the client has closed its connection, or its half of it (which whoever
 * waits for an answer does not do), and waits for nothing any more. From any thread. */
bool http_client_left(const http_req *rq);

#endif
