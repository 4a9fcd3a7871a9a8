/* Checks in test builds that every response follows the header rules
 * (docs/reference/http.md#response-headers). */
#ifndef VP_NET_CHECK_H
#define VP_NET_CHECK_H

#include "server/net/request/libmicrohttpd.h"

#include "server/net/request/handler.h"

/* Aborts if a response lacks a required header; no effect in other builds. */
void http_check_answer(const http_req *rq, const struct MHD_Response *r);

#endif
