/* A libmicrohttpd response and all of its headers: the only place where they are put together.
 * Where a function takes a pointer to a response, NULL in it is one that failed before, and
 * stays. */
#ifndef VP_NET_RESPONSE_H
#define VP_NET_RESPONSE_H

#include "server/net/request/libmicrohttpd.h"

#include "server/net/answer/entity.h"

/* Takes the response (NULL: answers 500), adds every header and keeps it for queueing. type and e
 * may be NULL. Returns 0. */
int http_prepare(http_req *rq, int status, struct MHD_Response *r, const char *type,
                 const http_entity *e);
/* Whether sites on the list may read this answer: of traces every one, and that there is nothing at
 * an address, which Perfetto asks at its start (POST /status:
 * docs/reference/perfetto.md#status-probe). */
bool http_may_be_read_elsewhere(const http_req *rq, int status);
/* n bytes that stay what and where they are; NULL when out of memory. */
struct MHD_Response *http_constant_response(const void *p, size_t n);
/* A response without a body; NULL when out of memory. */
struct MHD_Response *http_empty_response(void);
/* Adds a header to a response that is not yet prepared; a refused one makes *r NULL (and thereby
 * the answer 500): an answer never goes out without a header that it should have. */
void http_add(struct MHD_Response **r, const char *name, const char *value);
/* Adds Content-Disposition: attachment (RFC 6266). */
void http_add_disposition(struct MHD_Response **r, const char *filename);
/* Adds what every answer has (docs/reference/http.md#response-headers). content_policy: of
 * http_config. */
void http_add_policy(struct MHD_Response **r, const char *content_policy);

#endif
