/* The server: its options, start and stop. The caller that starts a server also stops it. */
#ifndef VP_NET_SERVER_H
#define VP_NET_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "server/net/request/handler.h"

typedef struct http_server http_server;

/* The options of the server, from the command line or the C API. */
typedef struct http_options {
    const char *host; /* NULL: 127.0.0.1 and ::1; else one address literal */
    int port;         /* -1: 9001 or the next free of 20; 0: any free port; else exactly this one */
    const char *unix_path;   /* not NULL: Unix socket with mode 0600, instead of host and port */
    bool inherit;            /* use sockets of a service manager (LISTEN_FDS) if there are any */
    const char *path_prefix; /* "/x": prefix under which a proxy publishes this site; or NULL */
    const char *access_log;  /* a file to append to, or "-"; NULL: no log */
    bool access_log_json;    /* JSON lines instead of the combined form */
    /* NULL: on loopback and Unix sockets only this user and root are allowed; otherwise, and if
     * users cannot be identified, a token is generated. */
    const char *token;
    const char *const *allow_hosts;   /* further names or "name:port" for Host; NULL-terminated */
    const char *const *allow_origins; /* further origins for HTTP_CORS routes; NULL-terminated */
} http_options;

typedef struct http_config {
    http_options opts;
    const http_route *routes; /* ends with a NULL pattern; the first match wins */
    void *ctx;                /* http_ctx() */
    /* Not NULL: a site with third-party code, with this Content-Security-Policy on every response,
     * whose windows keep their opener. Copied. */
    const char *content_policy;
    /* Called while stopping if requests have not finished: cancels slow handlers. Can be NULL. */
    void (*cancel)(void *ctx);
    /* Sends a page to a browser whose request was rejected before any handler (401, 403, 404, 405,
     * 503); `why` is the line that programs get. For a request rejected for its Host or Origin,
     * http_base_url is "". Runs on the event loop. NULL: the line is sent. */
    int (*refused)(http_req *rq, int status, const char *why);
} http_config;

/* Starts serving in its own threads. Copies the config except routes and ctx. VP_EBUSY: the port is
 * in use. VP_EARG: no such address. */
int http_start(http_server **out, const http_config *cfg);
/* Refuses new connections, lets requests in flight finish (at most 10 s), cancels the rest. */
void http_stop(http_server *s);
/* True while it is stopping: optional parts of a response should be omitted. */
bool http_stopping(const http_server *s);
uint16_t http_server_port(const http_server *s); /* 0: a Unix socket */
bool http_server_has_token(const http_server *s);
/* "http://127.0.0.1:9001/", with "?token=…" if there is a token; "unix:PATH" for a Unix socket.
 * Owned by the server. */
const char *http_server_url(const http_server *s);

/* Raises the soft limit of file descriptors to what a busy server can use, within the hard limit.
 * For programs; a library does not change the limits of its process. */
void http_more_descriptors(void);
/* True if a host name is loopback: "127.x", "::1", "localhost". */
bool http_names_loopback(const char *host);

#endif
