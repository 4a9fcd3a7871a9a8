/* A request, from its first line to the end of its answer. Its life:
 *
 *   raw URI seen → head read and guarded → (POST: body) → handler → response → completed
 *                                                └ HTTP_SLOW: suspended, on a worker, resumed
 *
 * Always the loop thread that owns the connection touches a request, except between suspension and
 * resumption, when it belongs to one worker. dispatch.c makes a request, request_end.c frees it. */
#ifndef VP_NET_REQUEST_H
#define VP_NET_REQUEST_H

#include <time.h>

#include "server/net/request/guard.h"
#include "server/net/request/handler.h"
#include "server/net/request/path.h"
#include "server/net/request/serving.h"

struct MHD_Connection;
struct MHD_Response;
struct http_conn;

typedef enum http_phase {
    HTTP_NEW,       /* only the URI is known */
    HTTP_RECEIVING, /* the head passed or failed the guard; a body may come */
    HTTP_WORKING,   /* suspended, or just resumed */
} http_phase;

/* A header that goes with a refusal; constant texts. */
typedef struct http_extra {
    const char *name, *value;
} http_extra;

struct http_req {
    http_serving *serving;
    struct MHD_Connection *conn;
    struct http_conn *connection;
    int fd; /* of the connection; libmicrohttpd's */
    http_phase phase;
    char *uri;
    const char *uri_at; /* where libmicrohttpd has it, only for head.c; changed since */
    size_t uri_n;
    http_head head;
    guard_verdict verdict;
    http_target target;
    const http_route *route;                 /* NULL: none matched */
    size_t param_segment[HTTP_SEGMENTS_MAX]; /* which segment the i-th {} is */
    size_t param_count;
    vp_buf body;
    char base_url[300];
    struct MHD_Response *response; /* prepared, not yet queued */
    unsigned status;
    struct timespec start; /* monotonic */
    http_extra extra;
    bool vary_encoding; /* the answer depends on Accept-Encoding */
    bool admitted;      /* admit() let it pass already */
    bool overflow;      /* the body was longer than it may be */
    size_t body_bytes;  /* of the prepared answer; of a stream, what was handed on so far */
    int64_t keep_ms;    /* > 0: how long the answer may be kept */
    http_req *next_job;
};

#endif
