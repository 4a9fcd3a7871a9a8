/* A request, from its first line to the end of its response. Its life:
 *
 *   raw URI seen → head read and checked → (POST: body) → handler → response → completed
 *                                                └ HTTP_SLOW: suspended, on a worker, resumed
 *
 * Only the loop thread of its connection accesses a request, except between suspension and
 * resumption, when it belongs to one worker. dispatch.c creates a request, request_end.c frees
 * it. */
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
    HTTP_RECEIVING, /* the head was checked by the guard; a body can follow */
    HTTP_WORKING,   /* suspended, or just resumed */
} http_phase;

/* A header of an error response; constant strings. */
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
    const char *uri_at; /* in libmicrohttpd's buffer, which it modifies; only for head.c */
    size_t uri_n;
    http_head head;
    guard_verdict verdict;
    http_target target;
    const http_route *route;                 /* NULL: none matched */
    size_t param_segment[HTTP_SEGMENTS_MAX]; /* index of the segment of the i-th {} */
    size_t param_count;
    vp_buf body;
    char base_url[300];
    struct MHD_Response *response; /* prepared, not yet queued */
    unsigned status;
    struct timespec start; /* monotonic */
    http_extra extra;
    bool vary_encoding; /* the response depends on Accept-Encoding */
    bool admitted;      /* admit() has already accepted it */
    bool overflow;      /* the body exceeded the limit */
    size_t body_bytes;  /* of the prepared response; of a stream, bytes sent so far */
    int64_t keep_ms;    /* > 0: how long the response can be cached */
    http_req *next_job;
};

#endif
