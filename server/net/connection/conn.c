#include "server/net/connection/conn.h"

#include <sys/socket.h>

#include "server/net/connection/loop.h"
#include "server/net/connection/peer.h"
#include "server/net/request/request_end.h"
#include "server/net/request/serving.h"
#include "trace/base/mem.h"

/* Number of connections that are kept free: libmicrohttpd accepts up to ten in a row before it
 * processes closed ones. */
#define RESERVE 16u
/* In ms: time limit for a complete request head. */
#define HEAD_MS 10000

static void leave_idle(http_conn *c)
{
    if (!c->idle)
        return;
    c->idle = false;
    *(c->before ? &c->before->behind : &c->all->longest) = c->behind;
    *(c->behind ? &c->behind->before : &c->all->newest) = c->before;
}

static void join_idle(http_conn *c)
{
    leave_idle(c);
    c->idle = true;
    c->before = c->all->newest;
    c->behind = NULL;
    *(c->before ? &c->before->behind : &c->all->longest) = c;
    c->all->newest = c;
}

/* Closes the connection that has been idle longest if nearly all are in use, because a client in
 * the kernel's queue has a request and an idle one has not. The socket is shut down, not closed:
 * the loop gets an event, and libmicrohttpd closes it. */
static void end_idlest_connection(http_conns *all)
{
    unsigned reserve = RESERVE < all->limit / 4 ? RESERVE : all->limit / 4;
    http_conn *c = all->longest;
    if (!c || all->count + reserve < all->limit)
        return;
    leave_idle(c);
    shutdown(c->fd, SHUT_RDWR);
}

static http_conn *open_conn(http_loop *l, struct MHD_Connection *conn)
{
    const http_serving *s = http_loop_serving(l);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
    http_conn *c = info ? vp_calloc(1, sizeof *c) : NULL;
    if (!c)
        return NULL;
    c->loop = l;
    c->conn = conn;
    c->all = http_loop_conns(l);
    c->fd = info->connect_fd;
    c->trusted = s->policy.token || http_peer_is_ours(s->peers, c->fd);
    c->watched = http_watch(s->watchdog, c->fd);
    http_watch_limit(c->watched, HEAD_MS);
    join_idle(c);
    return c;
}

static void close_conn(const http_serving *s, http_conn *c)
{
    leave_idle(c);
    http_unwatch(s->watchdog, c->watched);
    if (c->rq)
        http_forget(c->rq);
    vp_free(c);
}

void http_on_connection(void *loop, struct MHD_Connection *conn, void **context,
                        enum MHD_ConnectionNotificationCode code)
{
    http_conns *all = http_loop_conns(loop);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        all->count++;
        end_idlest_connection(all);
        *context = open_conn(loop, conn);
        return;
    }
    all->count--;
    if (*context)
        close_conn(http_loop_serving(loop), *context);
    *context = NULL;
    http_loop_closed(loop);
}

http_conn *http_conn_of(struct MHD_Connection *conn)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

void http_conn_busy(http_conn *c, struct http_req *rq)
{
    leave_idle(c);
    c->rq = rq;
}

void http_conn_idle(http_conn *c)
{
    c->rq = NULL;
    http_watch_idle(c->watched, HEAD_MS);
    join_idle(c);
}

void http_resume(http_conn *c)
{
    http_loop_resume(c->loop, c->conn);
}
