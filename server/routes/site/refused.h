/* The HTML page for a request that was rejected before any handler, with the next step for the
 * user. It is sent to unauthenticated clients, so it contains nothing specific to this server. */
#ifndef VP_ROUTES_REFUSED_H
#define VP_ROUTES_REFUSED_H

#include "server/net/http.h"

/* http_config.refused. */
int page_refused(http_req *rq, int status, const char *why);

#endif
