/* A route and its handler, and the functions with which a handler reads its request. The request
 * belongs to the server; returned pointers are valid as long as the request. */
#ifndef VP_NET_HANDLER_H
#define VP_NET_HANDLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/buf.h"
#include "trace/base/str.h"

typedef struct http_req http_req;

/* Answers the request; for a negative return value, the last error is sent (http_error). */
typedef int http_handler(http_req *rq);

enum { HTTP_GET = 1, HTTP_POST = 2 }; /* GET includes HEAD */

enum {
    HTTP_SLOW = 1, /* the handler can block: run it on a worker */
    HTTP_CORS = 2, /* allowed origins can read it: trace routes only */
    HTTP_OPEN = 4, /* requires no token: liveness only, never data */
    HTTP_API = 8   /* errors are JSON */
};

typedef struct http_route {
    unsigned methods;
    const char *pattern; /* "/session/{}/": {} is one segment; without the final '/' of the pattern
                            the client is redirected, an extra '/' is 404 */
    http_handler *handler;
    unsigned flags;
} http_route;

void *http_ctx(const http_req *rq);
bool http_is_post(const http_req *rq);
/* The text of the i-th "{}" of the pattern, percent-decoded once: valid UTF-8 without '/', '\',
 * control characters, "." or "..". NULL if there are fewer. */
const char *http_param(const http_req *rq, size_t i);
/* The first value of a query key, decoded; NULL if absent. */
const char *http_query(const http_req *rq, const char *key);
/* The i-th value of a repeated key. */
const char *http_query_at(const http_req *rq, const char *key, size_t i);
/* The first value of a header, or NULL. */
const char *http_header(const http_req *rq, const char *name);
/* "http://127.0.0.1:9001": the base URL that this client uses (a Host that passed the guard; else
 * ""). */
const char *http_base_url(const http_req *rq);
/* Relative path from the requested page to the root of the site, without trailing slash ("." or
 * "../.."), so that links work behind any prefix of a proxy. */
const char *http_root(const http_req *rq);
uint16_t http_port(const http_req *rq);
vp_str http_body(const http_req *rq); /* body of a POST; at most VP_HTTP_BODY_MAX */
/* Appends the counters of the server in Prometheus text format. */
void http_put_metrics(const http_req *rq, vp_buf *b);
/* For slow handlers: true if the client has closed its connection or its half of it, and no longer
 * waits for the response. Thread-safe. */
bool http_client_left(const http_req *rq);

#endif
