/* Files and constants as answers: conditional (RFC 9110 13), and files in ranges (14). */
#ifndef VP_NET_FILE_ANSWER_H
#define VP_NET_FILE_ANSWER_H

#include "server/net/answer/entity.h"

/* True when the conditions of the request settle it: answered with 304, 412, or 406 where the
 * client refuses the entity's coding (call this before the work, then return 0). */
bool http_not_modified(http_req *rq, const http_entity *e);
/* A regular file by descriptor (taken, also on failure) with conditions and Range. */
int http_file(http_req *rq, int fd, const http_entity *e);
/* Bytes that live as long as the program, and their gzip form (may be NULL). */
int http_static(http_req *rq, const void *raw, size_t raw_n, const void *gz, size_t gz_n,
                const http_entity *e);
/* Sends what http_stream sent for this ETag before, as a file; false when it is not there (any
 * more). Call it before opening the source. */
bool http_finished(http_req *rq, const http_entity *e);

#endif
