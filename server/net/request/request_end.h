/* Finishes a request: counts, logs and frees it. */
#ifndef VP_NET_REQUEST_END_H
#define VP_NET_REQUEST_END_H

#include "server/net/request/handler.h"

/* whole: its response was sent completely. Its connection still exists. */
void http_end_request(http_req *rq, bool whole);
/* The same for a request for which libmicrohttpd made no further callback: its connection is being
 * closed. */
void http_forget(http_req *rq);

#endif
