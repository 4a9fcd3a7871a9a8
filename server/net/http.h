/* HTTP for routes: a validated request, and one call that answers it. Everything that a hostile
 * client can send (framing, Host, Origin, paths, encodings) is checked before a handler runs, and
 * all response headers are set in one place (response.c).
 *
 * A handler is sequential code. It runs on the event loop, or on a worker thread if its route says
 * HTTP_SLOW; then the connection is suspended, and the handler may read files and compute. It ends
 * with exactly one `return http_…(rq, …)`. Handlers run concurrently.
 *
 * This is the public header of the module, for server/routes and server/api. The request belongs
 * to the server; returned pointers are valid as long as the request. */
#ifndef VP_NET_HTTP_H
#define VP_NET_HTTP_H

#include "server/net/answer/entity.h"
#include "server/net/answer/file_answer.h"
#include "server/net/answer/reply.h"
#include "server/net/answer/stream_answer.h"
#include "server/net/request/handler.h"
#include "server/net/server.h"

#endif
