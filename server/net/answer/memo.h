/* Answers from memory that are good for everybody for a moment: a page that ten browsers reload
 * costs one handler, and small files and assets cost neither a thread nor a system call. Included
 * by server/net only. Thread-safe. */
#ifndef VP_NET_MEMO_H
#define VP_NET_MEMO_H

#include "server/net/request/libmicrohttpd.h"

#include "server/net/request/handler.h"

typedef struct http_memo http_memo;

int http_memo_new(http_memo **out);
void http_memo_free(http_memo *m);
/* Queues the answer that is kept for what rq asks; false when there is none, or when rq has
 * conditions of its own. */
bool http_memo_send(http_memo *m, http_req *rq, enum MHD_Result *queued);
/* Keeps the answer that was made for rq (the caller's reference, taken in any case) as long as rq
 * says. */
void http_memo_keep(http_memo *m, http_req *rq, struct MHD_Response *taken);
/* Forgets everything: something was changed. */
void http_memo_clear(http_memo *m);

#endif
