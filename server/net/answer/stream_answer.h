/* Responses that are generated while they are sent, each by its own thread.
 *
 * At most 32 are sent at the same time. If there are more, the one whose client has read nothing
 * for the longest time, and for at least 3 s, is cut off. A remote machine can have at most 24 of
 * them. */
#ifndef VP_NET_STREAM_ANSWER_H
#define VP_NET_STREAM_ANSWER_H

#include "server/net/answer/entity.h"
#include "server/net/answer/http_source.h"

/* Sends a source, chunked, without Range; takes ownership, also on failure. gzip: compresses it
 * while sending (the entity then has the type of a .gz file, or `gzipped`). A complete response is
 * cached under the ETag of the entity for http_finished. */
int http_stream(http_req *rq, http_source src, bool gzip, const http_entity *e);

/* The streams of one server; freed by its creator. Thread-safe. */
typedef struct http_flows http_flows;

int http_flows_new(http_flows **out);
/* Cuts off every stream, and resumes suspended connections. NULL: no effect. */
void http_flows_abort(http_flows *all);
/* Waits until all threads of streams have exited; call after the loops have stopped. NULL: no
 * effect. */
void http_flows_free(http_flows *all);

#endif
