/* Describes the entity of a response: its validators (RFC 9110 8.8) and the negotiated encoding. */
#ifndef VP_NET_ENTITY_H
#define VP_NET_ENTITY_H

#include "server/net/request/date.h"
#include "server/net/request/handler.h"
#include "server/net/request/negotiate.h"
#include "trace/base/fs.h"

/* The properties of an entity, which do not change while its ETag does not change. */
typedef struct http_entity {
    const char *type;     /* Content-Type */
    char etag[96];        /* with quotes, with prefix `W/` if weak; "" for none */
    int64_t mtime_ns;     /* Last-Modified; not sent if 0 or invalid */
    const char *filename; /* not NULL: Content-Disposition: attachment */
    bool immutable;       /* its URL changes with its content */
    bool gzipped;         /* it is sent with Content-Encoding: gzip */
} http_entity;

/* Sets a strong ETag from the identity of a file and a tag for the derived form. "": the file
 * itself, whose time is also Last-Modified. */
void http_entity_etag(http_entity *e, const vp_file_id *id, const char *tag);
/* Decides by Accept-Encoding whether to send the entity with Content-Encoding: gzip, and adds Vary.
 * For entities available in both forms. */
bool http_wants_gzip(http_req *rq);

/* Private to server/net: the encoding for this client of an entity available with and without gzip.
 */
http_coding http_coding_of(const http_req *rq, bool can_gzip);
/* Private to server/net: Last-Modified of the entity, "" for none. */
void http_last_modified(char out[HTTP_DATE_SIZE], const http_entity *e);

#endif
