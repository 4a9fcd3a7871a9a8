/* State of one connection from accept to close: its request, its deadline and its peer.
 * libmicrohttpd stores it as the socket context and reports the end of every connection, even if
 * it dropped a request silently (0.9.75: if a query exhausts its pool), so no request outlives its
 * connection. Idle connections are in a list, oldest first; the oldest is closed when the
 * connection limit is nearly reached. Only the loop thread of a connection accesses it, except for
 * http_resume. */
#ifndef VP_NET_CONN_H
#define VP_NET_CONN_H

#include <stdbool.h>

#include "server/net/connection/watchdog.h"
#include "server/net/request/handler.h"
#include "server/net/request/libmicrohttpd.h"

typedef struct http_conn http_conn;
typedef struct http_loop http_loop;

/* The connections of one loop. */
typedef struct http_conns {
    unsigned count, limit;       /* limit: maximum that libmicrohttpd accepts */
    http_conn *longest, *newest; /* idle ones */
} http_conns;

struct http_conn {
    http_loop *loop; /* loop that serves it */
    struct MHD_Connection *conn;
    http_conns *all;            /* of its loop */
    http_conn *before, *behind; /* in the list of idle ones, while idle */
    bool idle;
    bool trusted; /* whether its user is allowed (peer.h), if there is no token */
    int fd;       /* libmicrohttpd's */
    http_watched *watched;
    http_req *rq; /* NULL between two requests */
};

/* Callback of MHD_OPTION_NOTIFY_CONNECTION; its closure is the http_loop. */
void http_on_connection(void *loop, struct MHD_Connection *conn, void **context,
                        enum MHD_ConnectionNotificationCode code);
/* NULL if it was out of memory. */
http_conn *http_conn_of(struct MHD_Connection *conn);
/* Called when a request starts or ends. */
void http_conn_busy(http_conn *c, http_req *rq);
void http_conn_idle(http_conn *c);
/* Resumes it after MHD_suspend_connection and wakes its loop. Thread-safe. */
void http_resume(http_conn *c);

#endif
