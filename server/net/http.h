/* HTTP for routes: a request that was already checked, and one call that answers it. Everything
 * that a hostile client can send (framing, Host, Origin, paths, encodings) is settled before a
 * handler runs, and every header of an answer is added in one place (response.c).
 *
 * A handler is straight code. It runs on the event loop, or, when its route says HTTP_SLOW, on a
 * worker thread while the connection is suspended: then it may read files and compute. It ends
 * with exactly one `return http_…(rq, …)`. Handlers run concurrently.
 *
 * This is the door: server/routes and server/api include it, files of server/net what they need of
 * it. The request belongs to the server; what getters return lives as long as the request. */
#ifndef VP_NET_HTTP_H
#define VP_NET_HTTP_H

#include "server/net/answer/entity.h"
#include "server/net/answer/file_answer.h"
#include "server/net/answer/reply.h"
#include "server/net/answer/stream_answer.h"
#include "server/net/request/handler.h"
#include "server/net/server.h"

#endif
