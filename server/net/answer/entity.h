/* What an answer says of the thing that it sends: its validators (RFC 9110 8.8), and in which
 * coding this client is to get it. */
#ifndef VP_NET_ENTITY_H
#define VP_NET_ENTITY_H

#include "server/net/request/date.h"
#include "server/net/request/handler.h"
#include "server/net/request/negotiate.h"
#include "trace/base/fs.h"

/* What does not change while its ETag does not. */
typedef struct http_entity {
    const char *type;     /* Content-Type */
    char etag[96];        /* with quotes, `W/` in front where weak; "" for none */
    int64_t mtime_ns;     /* Last-Modified; 0 or absurd: none is said */
    const char *filename; /* not NULL: Content-Disposition: attachment */
    bool immutable;       /* its URL changes with its content */
    bool gzipped;         /* it is sent with Content-Encoding: gzip */
} http_entity;

/* A strong ETag from a file's identity and a tag of what was made from it. "": the file itself,
 * whose time then is Last-Modified too. */
void http_entity_etag(http_entity *e, const vp_file_id *id, const char *tag);
/* Whether to send the entity with Content-Encoding: gzip, by Accept-Encoding; the answer then says
 * that it depends on that. For what can be had both ways. */
bool http_wants_gzip(http_req *rq);

/* For files of server/net only: the coding that this client is to get of what can be had as gzip or
 * not. */
http_coding http_coding_of(const http_req *rq, bool can_gzip);
/* The same: the entity's Last-Modified, "" for none. */
void http_last_modified(char out[HTTP_DATE_SIZE], const http_entity *e);

#endif
