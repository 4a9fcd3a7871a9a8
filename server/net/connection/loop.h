/* A thread that serves connections: a libmicrohttpd daemon without internal threads, and the wait
 * for its events. The daemon does not wait itself: if exactly as many events arrive as its array
 * holds (128 in 0.9.75), it waits again before it processes them, so that 128 simultaneous
 * requests could stall until a timeout. The owner of a loop stops it.
 *
 * Up to four loops share the first socket; each other socket has one loop. libmicrohttpd notifies
 * only its internal threads of a resumed connection, so http_resume wakes the loop. After it was
 * full, it accepts again only when it runs the next time, so a loop runs once more after a
 * connection closes. STRICT_FOR_CLIENT is off: it would close connections without a response,
 * while the guard returns an error and refuses more. */
#ifndef VP_NET_LOOP_H
#define VP_NET_LOOP_H

#include "server/net/request/libmicrohttpd.h"

#include "server/net/connection/conn.h"
#include "server/net/request/serving.h"

/* Without a daemon yet. serving outlives it. */
int http_loop_new(http_loop **out, http_serving *serving);
http_serving *http_loop_serving(const http_loop *l);
http_conns *http_loop_conns(http_loop *l);
/* Takes the daemon: MHD_USE_EPOLL, without an internal thread. */
int http_loop_take(http_loop *l, struct MHD_Daemon *d);
/* Begins to serve. */
int http_loop_start(http_loop *l);
/* Stops accepting connections, but continues to serve existing ones. Returns at once. */
void http_loop_quiesce(http_loop *l);
/* Resumes a connection of the loop's daemon, which libmicrohttpd supports only for its own threads.
 * Any thread. */
void http_loop_resume(http_loop *l, struct MHD_Connection *conn);
/* Notes that a connection was closed, so that a waiting one may be accepted. Call it on the loop's
 * thread, or after that has ended. */
void http_loop_closed(http_loop *l);
/* Ends the thread, if it was started, then the daemon with all its connections, of which none may
 * be suspended. NULL: nothing. */
void http_loop_stop(http_loop *l);

#endif
