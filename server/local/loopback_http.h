/* One GET to a program on this machine: enough HTTP to ask a local TensorBoard two questions, and
 * nothing more (no TLS, no redirects, no names: the address is always 127.0.0.1). Only
 * server/local includes this. The answer is hostile until read: sizes and times have ceilings. */
#ifndef VP_LOCAL_LOOPBACK_HTTP_H
#define VP_LOCAL_LOOPBACK_HTTP_H

#include "trace/base/buf.h"

/* GETs http://127.0.0.1:PORT/path within timeout_ms altogether and appends the body to `body`
 * (initialised by the caller, whose maximum holds) with transfer and content coding removed; gzip
 * is verified. *status is the HTTP status. VP_EREMOTE: nobody answers, too slow, or no HTTP;
 * VP_ECORRUPT: the answer is damaged; VP_ELIMIT: it is too large. */
int lb_get(vp_buf *body, int *status, int port, const char *path, int timeout_ms);

/* The same decoding on a whole answer in memory (head and body), for lb_get and its tests. */
int lb_decode(vp_buf *body, int *status, vp_str answer);

/* True when 127.0.0.1:port can be bound right now. */
bool lb_port_is_free(int port);

#endif
