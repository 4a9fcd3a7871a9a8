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
#include <time.h>

#include <microhttpd.h>

#include "server/net/access_log.h"
#include "server/net/cache.h"
#include "server/net/conn.h"
#include "server/net/date.h"
#include "server/net/guard.h"
#include "server/net/http.h"
#include "server/net/listen.h"
#include "server/net/loop.h"
#include "server/net/memo.h"
#include "server/net/metrics.h"
#include "server/net/negotiate.h"
#include "server/net/path.h"
#include "server/net/peer.h"
#include "server/net/watchdog.h"
#include "server/net/work.h"

/* A whole head has to arrive within this time. */
#define HTTP_HEAD_MS 10000
/* What a connection may do between two requests is up to libmicrohttpd's inactivity timeout. */
#define HTTP_IDLE_S 30u

/* Threads that serve the first socket. */
#define HTTP_SHARED_LOOPS_MAX 4

/* Longer than any that a proxy is given. */
#define HTTP_PREFIX_MAX 128u

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
    http_conn *connection;
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

/* One stream that is being sent; see stream_answer.c. */
typedef struct http_flow http_flow;

struct http_server {
    guard_policy policy;
    const http_route *routes;
    void *ctx;
    void (*cancel)(void *ctx);
    int (*refused)(http_req *rq, int status, const char *why);
    http_sockets sockets;
    /* Several at the first socket, one at each other. */
    http_loop *loops[HTTP_SHARED_LOOPS_MAX + HTTP_SOCKETS_MAX - 1];
    int loop_count;
    char prefix[HTTP_PREFIX_MAX]; /* "" or "/x" */
    char *url, *token;            /* token: NULL where clients are known by their user */
    http_peers *peers;
    char **hosts, **origins;
    http_metrics *metrics;
    access_log *log; /* NULL: none is kept */
    http_watchdog *watchdog;
    http_pool *pool;
    http_cache *cache;
    http_memo *memo;
    _Atomic int active; /* requests whose head has come, and that are not over */
    _Atomic bool stopping, cancelled;
    pthread_mutex_t flow_lock;
    pthread_cond_t flow_gone;
    http_flow *flows;
    int flow_count;
};

/* config.c: sockets, token, policy and URL of a server that is being started. What it made so far
 * is freed by http_stop, also when it fails. */
int http_configure(http_server *s, const http_config *cfg);
void http_free_list(char **list);

/* dispatch.c: libmicrohttpd's callbacks. */
void *http_on_uri(void *server, const char *uri, struct MHD_Connection *conn);
enum MHD_Result http_on_request(void *server, struct MHD_Connection *conn, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_n, void **state);
void http_on_completed(void *server, struct MHD_Connection *conn, void **state,
                       enum MHD_RequestTerminationCode why);
/* The worker's part of a slow request: runs the handler, then resumes the connection. */
void http_run_job(http_req *rq);

/* request_end.c: counts, logs and frees a request that ended; whole: with its answer sent to the
 * end. Its connection still exists. */
void http_end_request(http_req *rq, bool whole);
/* The same for a request that libmicrohttpd never spoke of again: its connection is being closed.
 */
void http_forget(http_req *rq);

/* head.c: false when bytes of the head are neither in head.fields nor in its first line: what
 * libmicrohttpd left out or cut without a word. */
bool http_head_is_whole(const http_req *rq, const char *method, const char *version);

/* conn.c: MHD_resume_connection, and its loop hears of it. Any thread. */
void http_resume(http_server *s, struct MHD_Connection *conn);

/* route.c: the table. 0, or the status to answer; *allow is then the Allow header for 405. 308:
 * the same address with a slash at its end is a page. */
int http_route_find(http_req *rq, const char **allow);

/* reply.c: takes the response (NULL: answers 500), adds every header and keeps it for queueing.
 * type and e may be NULL. Returns 0. */
int http_prepare(http_req *rq, int status, struct MHD_Response *r, const char *type,
                 const http_entity *e);
/* n bytes that stay what and where they are; NULL when out of memory. */
struct MHD_Response *http_constant_response(const void *p, size_t n);
/* A response without a body; NULL when out of memory. */
struct MHD_Response *http_empty_response(void);
/* Adds a header to a response that is not yet prepared; a refused one makes *r NULL (and thereby
 * the answer 500): an answer never goes out without a header that it should have. */
void http_add(struct MHD_Response **r, const char *name, const char *value);

/* reply.c: adds what every answer has (quality.md 2.1). */
void http_add_policy(struct MHD_Response **r);

/* check.c: in builds for tests, ends the program when an answer lacks what every one must have. */
void http_check_answer(const http_req *rq, const struct MHD_Response *r);

/* entity.c: what this client is to get of what can be had as gzip or not. */
http_coding http_coding_of(const http_req *rq, bool can_gzip);
/* file_answer.c: Content-Disposition: attachment. */
void http_add_disposition(struct MHD_Response **r, const char *filename);
/* large.c: bytes first to end (not included) of a file, whose descriptor is taken, sent in large
 * pieces; the connection ends with them. NULL, and perhaps *fd still open, when out of memory. */
struct MHD_Response *http_large_response(http_req *rq, int *fd, int64_t first, int64_t end);
/* entity.c: the entity's Last-Modified, "" for none. */
void http_last_modified(char out[HTTP_DATE_SIZE], const http_entity *e);

/* stream_answer.c: cuts every flow, and resumes its connection if it is suspended. */
void http_abort_flows(http_server *s);
/* Waits until no flow's thread is left; after the loops stopped. */
void http_wait_flows(http_server *s);

#endif
