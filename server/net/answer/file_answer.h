/* Responses from files and constants: conditional requests (RFC 9110 13) and ranges (14). */
#ifndef VP_NET_FILE_ANSWER_H
#define VP_NET_FILE_ANSWER_H

#include "server/net/answer/entity.h"

/* True if the conditions of the request were answered: with 304, 412, or 406 if the client refuses
 * the encoding of the entity. Call this before expensive work, and return 0 if it is true. */
bool http_not_modified(http_req *rq, const http_entity *e);
/* Sends a regular file by descriptor (takes ownership, also on failure), with conditions and Range.
 */
int http_file(http_req *rq, int fd, const http_entity *e);
/* Sends static bytes, or their gzip form (can be NULL). */
int http_static(http_req *rq, const void *raw, size_t raw_n, const void *gz, size_t gz_n,
                const http_entity *e);
/* Sends the cached result of an earlier http_stream with this ETag as a file; false if it is not
 * cached. Call it before opening the source. */
bool http_finished(http_req *rq, const http_entity *e);

#endif
