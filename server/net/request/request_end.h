/* The end of a request: it is counted, logged and freed. */
#ifndef VP_NET_REQUEST_END_H
#define VP_NET_REQUEST_END_H

#include "server/net/request/handler.h"

/* whole: with its answer sent to the end. Its connection still exists. */
void http_end_request(http_req *rq, bool whole);
/* The same for a request that libmicrohttpd never spoke of again: its connection is being closed.
 */
void http_forget(http_req *rq);

#endif
