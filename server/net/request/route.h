/* Finds the route of a path. */
#ifndef VP_NET_ROUTE_H
#define VP_NET_ROUTE_H

#include "server/net/request/handler.h"

/* Finds the first route whose pattern matches the target, and the segments of its {}. 0, or the
 * status to send; *allow is the Allow header for 405. 308: the same URL with a trailing slash is a
 * page. */
int http_route_find(http_req *rq, const char **allow);

#endif
