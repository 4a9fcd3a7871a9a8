/* Minimal HTTP client for programs on loopback, such as a local TensorBoard: one GET, no TLS, no
 * redirects, no name resolution. The response is untrusted; its size and the total time are
 * limited. */
#ifndef VP_LOCAL_LOOPBACK_HTTP_H
#define VP_LOCAL_LOOPBACK_HTTP_H

#include "trace/base/buf.h"

/* GETs http://127.0.0.1:PORT/path within timeout_ms in total and appends the body to `body`
 * (initialized by the caller; its maximum applies), with transfer and content coding removed; gzip
 * checksums are verified. *status is the HTTP status. VP_EREMOTE: no server, timed out, or not
 * HTTP; VP_ECORRUPT: malformed response; VP_ELIMIT: too large. */
int lb_get(vp_buf *body, int *status, int port, const char *path, int timeout_ms);

/* Decodes a complete response in memory (head and body), for lb_get and its tests. */
int lb_decode(vp_buf *body, int *status, vp_str answer);

/* True if 127.0.0.1:port can be bound now. */
bool lb_port_is_free(int port);

#endif
