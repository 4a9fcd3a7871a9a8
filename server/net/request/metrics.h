/* Counters of requests for /metrics. Labels are a route's pattern and a status, never client data.
 * Lock-free. */
#ifndef VP_NET_METRICS_H
#define VP_NET_METRICS_H

#include "server/net/request/handler.h"

typedef struct http_metrics http_metrics;

int http_metrics_new(http_metrics **out, const http_route *routes);
void http_metrics_free(http_metrics *m);
/* Counts a finished request. route: NULL if none matched; status: 0 if libmicrohttpd rejected it;
 * bytes: of a complete body. */
void http_metrics_add(http_metrics *m, const http_route *route, unsigned status, bool whole,
                      int64_t bytes, int64_t took_ns);
/* Appends them in Prometheus text format. */
void http_metrics_put(const http_metrics *m, vp_buf *b);

#endif
