/* Answers that are made while they are sent, each by a thread of its own.
 *
 * At most 32 are sent at once. Then the one whose client has taken nothing for longest, and for 3 s
 * at least, is cut for the next. Off loopback a machine has 24 of them at most. */
#ifndef VP_NET_STREAM_ANSWER_H
#define VP_NET_STREAM_ANSWER_H

#include "server/net/answer/entity.h"
#include "server/net/answer/http_source.h"

/* Sends a source, chunked, without Range; the source is taken, also on failure. gzip: compressed
 * on the way (the entity is then of the type of a .gz file, or `gzipped`). What was sent to its end
 * is kept under the entity's ETag for http_finished. */
int http_stream(http_req *rq, http_source src, bool gzip, const http_entity *e);

/* The streams of one server. Whoever makes it frees it; thread-safe. */
typedef struct http_flows http_flows;

int http_flows_new(http_flows **out);
/* Cuts every stream, and resumes its connection if it is suspended. NULL: nothing. */
void http_flows_abort(http_flows *all);
/* Waits until no stream's thread is left; after the loops stopped. NULL: nothing. */
void http_flows_free(http_flows *all);

#endif
