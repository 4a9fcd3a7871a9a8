/* Short-lived shared cache of responses: a page that ten browsers reload runs its handler once,
 * and small files and assets need neither a thread nor a system call. Thread-safe. */
#ifndef VP_NET_MEMO_H
#define VP_NET_MEMO_H

#include "server/net/request/libmicrohttpd.h"

#include "server/net/request/handler.h"

typedef struct http_memo http_memo;

int http_memo_new(http_memo **out);
void http_memo_free(http_memo *m);
/* Queues the cached response for rq; false if there is none, or if rq has conditions. */
bool http_memo_send(http_memo *m, http_req *rq, enum MHD_Result *queued);
/* Caches the response of rq (takes the caller's reference in any case) for the time set by rq. */
void http_memo_keep(http_memo *m, http_req *rq, struct MHD_Response *taken);
/* Clears the cache after a change. */
void http_memo_clear(http_memo *m);

#endif
