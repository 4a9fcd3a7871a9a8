/* Which route a path belongs to. */
#ifndef VP_NET_ROUTE_H
#define VP_NET_ROUTE_H

#include "server/net/request/handler.h"

/* Finds the first route of the server whose pattern fits the target, and the segments that its {}
 * stand for. 0, or the status to answer; *allow is then the Allow header for 405. 308: the same
 * address with a slash at its end is a page. */
int http_route_find(http_req *rq, const char **allow);

#endif
