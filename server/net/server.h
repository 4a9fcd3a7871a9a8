/* The server: what its user may say of it, its start and its end. The caller that starts a server
 * also stops it. */
#ifndef VP_NET_SERVER_H
#define VP_NET_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "server/net/request/handler.h"

typedef struct http_server http_server;

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
    /* Not NULL: a site whose code is not ours, with this Content-Security-Policy on every answer,
     * and whose windows keep the one that opened them. Copied. */
    const char *content_policy;
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
/* It began to stop: what can be left out of an answer should be. */
bool http_stopping(const http_server *s);
uint16_t http_server_port(const http_server *s); /* 0: a Unix socket */
bool http_server_has_token(const http_server *s);
/* "http://127.0.0.1:9001/"; with a token "?token=…" is appended; "unix:PATH" of a Unix socket.
 * Owned by the server. */
const char *http_server_url(const http_server *s);

/* Raises this process's soft limit of descriptors as far as a busy server can use and the hard
 * limit permits. For programs; a library leaves the limits of its process alone. */
void http_more_descriptors(void);
/* Whether a host is this machine's own loopback by its name: "127.x", "::1", "localhost". */
bool http_names_loopback(const char *host);

#endif
