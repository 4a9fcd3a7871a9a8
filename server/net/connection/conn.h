/* One connection, from its acceptance until it is closed: the request that hangs on it, the watch
 * over it, and whose it is. libmicrohttpd keeps it as the connection's socket context. It tells of
 * the end of every connection, also where it gave up a request without a word (0.9.75: when a query
 * exhausts its pool), so nothing of a request outlives its connection. Idle connections, which wait
 * for a next request, stand in a list, longest first: the first of them is ended when there are
 * nearly as many connections as there may be. Only a loop's own thread touches its connections,
 * except for http_resume. */
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
    unsigned count, limit;       /* limit: of libmicrohttpd, which accepts no more */
    http_conn *longest, *newest; /* idle ones */
} http_conns;

struct http_conn {
    http_loop *loop; /* that serves it */
    struct MHD_Connection *conn;
    http_conns *all;            /* of its loop */
    http_conn *before, *behind; /* in the list of idle ones, while idle */
    bool idle;
    bool trusted; /* whose it is (peer.h), where no token tells */
    int fd;       /* libmicrohttpd's */
    http_watched *watched;
    http_req *rq; /* NULL between two requests */
};

/* What MHD_OPTION_NOTIFY_CONNECTION calls; its closure is the http_loop. */
void http_on_connection(void *loop, struct MHD_Connection *conn, void **context,
                        enum MHD_ConnectionNotificationCode code);
/* NULL when there was no memory for it. */
http_conn *http_conn_of(struct MHD_Connection *conn);
/* A request of it was begun, or has ended. */
void http_conn_busy(http_conn *c, http_req *rq);
void http_conn_idle(http_conn *c);
/* Goes on with it after MHD_suspend_connection, and its loop hears of that. Any thread. */
void http_resume(http_conn *c);

#endif
