/* What the server counts about its answers, for /metrics. The labels are ours: a route's pattern
 * and a status; nothing that a client sends becomes one. Counting is lock-free. */
#ifndef VP_NET_METRICS_H
#define VP_NET_METRICS_H

#include "server/net/request/handler.h"

typedef struct http_metrics http_metrics;

int http_metrics_new(http_metrics **out, const http_route *routes);
void http_metrics_free(http_metrics *m);
/* One request ended. route: NULL when none matched; status: 0 when libmicrohttpd refused it by
 * itself; bytes: of the body that was sent whole. */
void http_metrics_add(http_metrics *m, const http_route *route, unsigned status, bool whole,
                      int64_t bytes, int64_t took_ns);
/* Appends them in Prometheus' text format. */
void http_metrics_put(const http_metrics *m, vp_buf *b);

#endif
