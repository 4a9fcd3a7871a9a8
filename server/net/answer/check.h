/* The rules of headers that every answer keeps (docs/reference/http.md#response-headers), checked
 * in builds for tests. */
#ifndef VP_NET_CHECK_H
#define VP_NET_CHECK_H

#include "server/net/request/libmicrohttpd.h"

#include "server/net/request/handler.h"

/* Ends the program when an answer lacks what every one must have; in other builds nothing. */
void http_check_answer(const http_req *rq, const struct MHD_Response *r);

#endif
