/* HTTP for routes: a request that was already checked, and one call that answers it. Everything
 * that a hostile client can send (framing, Host, Origin, paths, encodings) is settled before a
 * handler runs, and every header of an answer is added in one place behind these functions.
 *
 * A handler is straight code. It runs on the event loop, or, when its route says HTTP_SLOW, on a
 * worker thread while the connection is suspended: then it may read files and compute. It ends
 * with exactly one `return http_…(rq, …)`. Handlers run concurrently.
 *
 * Included by server/routes and server/api. The request belongs to the server; what getters
 * return lives as long as the request. */
#ifndef VP_NET_HTTP_H
#define VP_NET_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/buf.h"
#include "trace/base/fs.h"
#include "trace/base/str.h"

typedef struct http_req http_req;
typedef struct http_server http_server;

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

/* What the user may say of the server: one struct from the command line and the C API to here. */
typedef struct http_options {
    const char *host;        /* NULL: 127.0.0.1 and ::1; else one address literal */
    int port;                /* -1: 9001 or the next free of 20; 0: any; else exactly this */
    const char *unix_path;   /* not NULL: only here, mode 0600, instead of host and port */
    bool inherit;            /* sockets that a service manager passed (LISTEN_FDS) come first */
    const char *path_prefix; /* "/x": the proxy in front of us serves this site below it; or NULL */
    const char *access_log;  /* a file to append to, or "-"; NULL: no log */
    bool access_log_json;    /* JSON lines instead of the combined form */
    /* NULL: on loopback and Unix sockets only our own user and root are answered; elsewhere, and
     * where users cannot be told apart, a token is made. */
    const char *token;
    const char *const *allow_hosts;   /* further names or "name:port" for Host; NULL-terminated */
    const char *const *allow_origins; /* further origins for HTTP_CORS routes; NULL-terminated */
} http_options;

typedef struct http_config {
    http_options opts;
    const http_route *routes; /* ends with a NULL pattern; the first match wins */
    void *ctx;                /* http_ctx() */
    /* Called while stopping, when requests have not ended by themselves: makes slow handlers give
     * up. May be NULL. */
    void (*cancel)(void *ctx);
    /* Answers a person's browser with a page where it was refused before any handler (401, 403,
     * 404, 405, 503); `why` is the line that programs get. Of a request that is refused for its
     * Host or Origin only that is known: http_base_url is "". Runs on the event loop. NULL: the
     * line. */
    int (*refused)(http_req *rq, int status, const char *why);
} http_config;

/* Starts to serve from threads of its own. The config is copied except routes and ctx.
 * VP_EBUSY: the port is taken. VP_EARG: no such address. */
int http_start(http_server **out, const http_config *cfg);
/* Refuses new connections, lets requests in flight finish (at most 10 s), cancels the rest. */
void http_stop(http_server *s);
uint16_t http_server_port(const http_server *s); /* 0: a Unix socket */
bool http_server_has_token(const http_server *s);
/* "http://127.0.0.1:9001/"; with a token "?token=…" is appended; "unix:PATH" of a Unix socket.
 * Owned by the server. */
const char *http_server_url(const http_server *s);

/* ---- The request ---------------------------------------------------------------------------- */

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

/* ---- Answers -------------------------------------------------------------------------------- */

/* A plain-text (HTTP_API: JSON) failure; control characters in the text are escaped. */
int http_fail(http_req *rq, int status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The HTTP status that says what a code of ours does: 404, 422, 503 … */
int http_status_of(int code);
/* The calling thread's last failure under its status. Never shows absolute paths. */
int http_error(http_req *rq);
/* A page or JSON; the buffer is consumed (also on failure) and gzipped when that is accepted. */
int http_html(http_req *rq, int status, vp_buf *b);
int http_json(http_req *rq, int status, vp_buf *b);
int http_text(http_req *rq, int status, const char *text);
/* Any text, line ends included; the buffer is consumed (also on failure). */
int http_plain(http_req *rq, int status, vp_buf *b, const char *type);
/* 303 to a path of ours ("/session/…"), or to an absolute URL that no request can influence. */
int http_redirect(http_req *rq, const char *location);

/* What does not change while its ETag does not. */
typedef struct http_entity {
    const char *type;     /* Content-Type */
    char etag[96];        /* with quotes, `W/` in front where weak; "" for none */
    int64_t mtime_ns;     /* Last-Modified; 0 or absurd: none is said */
    const char *filename; /* not NULL: Content-Disposition: attachment */
    bool immutable;       /* its URL changes with its content */
    bool gzipped;         /* it is sent with Content-Encoding: gzip */
} http_entity;

/* A strong ETag from a file's identity and a tag of what was made from it. "": the file itself,
 * whose time then is Last-Modified too. */
void http_entity_etag(http_entity *e, const vp_file_id *id, const char *tag);
/* Whether to send the entity with Content-Encoding: gzip, by Accept-Encoding; the answer then says
 * that it depends on that. For what can be had both ways. */
bool http_wants_gzip(http_req *rq);
/* True when the conditions of the request settle it: answered with 304, 412, or 406 where the
 * client refuses the entity's coding (call this before the work, then return 0). */
bool http_not_modified(http_req *rq, const http_entity *e);
/* A regular file by descriptor (taken, also on failure) with conditions and Range. */
int http_file(http_req *rq, int fd, const http_entity *e);
/* Bytes that live as long as the program, and their gzip form (may be NULL). */
int http_static(http_req *rq, const void *raw, size_t raw_n, const void *gz, size_t gz_n,
                const http_entity *e);

/* Bytes that are made while they are sent, by a thread of the stream's own. */
typedef struct http_source {
    /* 1: *p,*n is the next piece, valid until the next call; 0: the end; < 0: failed, and the
     * connection is cut so that the client knows. May block. */
    int (*next)(void *ctx, char **p, size_t *n);
    void (*close)(void *ctx);
    void *ctx;
} http_source;
/* Sends a source, chunked, without Range; the source is taken, also on failure. gzip: compressed
 * on the way (the entity is then of the type of a .gz file, or `gzipped`). What was sent to its end
 * is kept under the entity's ETag for http_finished. */
int http_stream(http_req *rq, http_source src, bool gzip, const http_entity *e);
/* Sends what http_stream sent for this ETag before, as a file; false when it is not there (any
 * more). Call it before opening the source. */
bool http_finished(http_req *rq, const http_entity *e);

/* The answer about to be given is good for whoever sends the same target during the next ms
 * milliseconds (and accepts the same coding): small ones are then sent again without asking the
 * handler. Not for HTTP_CORS routes, nor for what depends on any other header. */
void http_keep(http_req *rq, int64_t ms);
/* Raises this process's soft limit of descriptors as far as a busy server can use and the hard
 * limit permits. For programs; a library leaves the limits of its process alone. */
void http_more_descriptors(void);

#endif
