/* Creates libmicrohttpd responses with all of their headers; no other file sets headers. Functions
 * that take a pointer to a response accept NULL inside it, which is a response that failed before.
 */
#ifndef VP_NET_RESPONSE_H
#define VP_NET_RESPONSE_H

#include "server/net/request/libmicrohttpd.h"

#include "server/net/answer/entity.h"

/* Takes ownership of the response (NULL: sends 500), adds all headers and keeps it for queueing.
 * type and e can be NULL. Returns 0. */
int http_prepare(http_req *rq, int status, struct MHD_Response *r, const char *type,
                 const http_entity *e);
/* True if allowed origins can read this response: every response of a trace route, and the 404 that
 * Perfetto requests at its start (POST /status: docs/reference/perfetto.md#status-probe). */
bool http_may_be_read_elsewhere(const http_req *rq, int status);
/* A response of n static bytes; NULL if out of memory. */
struct MHD_Response *http_constant_response(const void *p, size_t n);
/* A response without a body; NULL if out of memory. */
struct MHD_Response *http_empty_response(void);
/* Adds a header to a response that is not yet prepared. On failure *r becomes NULL, which sends
 * 500: no response is sent without a required header. */
void http_add(struct MHD_Response **r, const char *name, const char *value);
/* Adds Content-Disposition: attachment (RFC 6266). */
void http_add_disposition(struct MHD_Response **r, const char *filename);
/* Adds the headers of every response (docs/reference/http.md#response-headers). content_policy:
 * from http_config. */
void http_add_policy(struct MHD_Response **r, const char *content_policy);

#endif
