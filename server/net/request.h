/* What the files of server/net share about a request and the server. Life of a request:
 *
 *   raw URI seen → head read and guarded → (POST: body) → handler → response → completed
 *                                                └ HTTP_SLOW: suspended, on a worker, resumed
 *
 * Always the loop thread that owns the connection touches a request, except between suspension
 * and resumption, when it belongs to one worker. Included by server/net only. */
#ifndef VP_NET_REQUEST_H
#define VP_NET_REQUEST_H

#include <pthread.h>
#include <stdatomic.h>

#include <microhttpd.h>

#include "server/net/guard.h"
#include "server/net/http.h"
#include "server/net/path.h"
#include "server/net/watchdog.h"
#include "server/net/work.h"

/* A whole head has to arrive within this time. */
#define HTTP_HEAD_MS 10000
/* What a connection may do between two requests is up to the daemon's inactivity timeout. */
#define HTTP_IDLE_S 30u

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
    http_server *server;
    struct MHD_Connection *conn;
    http_phase phase;
    char *uri;
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
    http_extra extra;
    bool vary_encoding; /* the answer depends on Accept-Encoding */
    http_req *next_job;
};

/* One stream that is being sent; see stream.c. */
typedef struct http_flow http_flow;

struct http_server {
    guard_policy policy;
    const http_route *routes;
    void *ctx;
    void (*cancel)(void *ctx);
    struct MHD_Daemon *daemons[2]; /* IPv4 (or the one address), IPv6 loopback */
    int daemon_count;
    char *url, *token, *bound;
    char **hosts, **origins;
    http_watchdog *watchdog;
    http_pool *pool;
    _Atomic int active; /* requests that exist */
    _Atomic bool stopping, cancelled;
    pthread_mutex_t flow_lock;
    pthread_cond_t flow_gone;
    http_flow *flows;
    int flow_count;
};

/* dispatch.c: libmicrohttpd's callbacks. */
void *http_on_uri(void *server, const char *uri, struct MHD_Connection *conn);
enum MHD_Result http_on_request(void *server, struct MHD_Connection *conn, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_n, void **state);
void http_on_completed(void *server, struct MHD_Connection *conn, void **state,
                       enum MHD_RequestTerminationCode why);
/* The worker's part of a slow request: runs the handler, then resumes the connection. */
void http_run_job(http_req *rq);

/* route.c: the table. 0, or the status to answer; *allow is then the Allow header for 405. 308:
 * the same address with a slash at its end is a page. */
int http_route_find(http_req *rq, const char **allow);

/* reply.c: takes the response (NULL: answers 500), adds every header and keeps it for queueing.
 * type and e may be NULL. Returns 0. */
int http_prepare(http_req *rq, int status, struct MHD_Response *r, const char *type,
                 const http_entity *e);
/* A response without a body; NULL when out of memory. */
struct MHD_Response *http_empty_response(void);
/* Adds a header to a response that is not yet prepared; a refused one makes *r NULL (and thereby
 * the answer 500): an answer never goes out without a header that it should have. */
void http_add(struct MHD_Response **r, const char *name, const char *value);

/* files.c: Content-Disposition: attachment. */
void http_add_disposition(struct MHD_Response **r, const char *filename);

/* stream.c: cuts every flow, and resumes its connection if it is suspended. */
void http_abort_flows(http_server *s);
/* Waits until no flow's thread is left; after the daemons stopped. */
void http_wait_flows(http_server *s);

#endif
