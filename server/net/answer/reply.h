/* Responses that a handler makes in memory: pages, JSON, text, errors, redirects. Each function
 * returns 0, or a negative code if no response could be queued. */
#ifndef VP_NET_REPLY_H
#define VP_NET_REPLY_H

#include "server/net/request/handler.h"

/* Sends an error as plain text (HTTP_API: JSON); control characters in the text are escaped. */
int http_fail(http_req *rq, int status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The HTTP status for an error code: 404, 422, 503 … */
int http_status_of(int code);
/* Sends the last error of the calling thread with its status. Never contains absolute paths. */
int http_error(http_req *rq);
/* Sends a page or JSON; consumes the buffer (also on failure), and compresses it if the client
 * accepts gzip. */
int http_html(http_req *rq, int status, vp_buf *b);
int http_json(http_req *rq, int status, vp_buf *b);
int http_text(http_req *rq, int status, const char *text);
/* Sends text as it is; consumes the buffer (also on failure). */
int http_plain(http_req *rq, int status, vp_buf *b, const char *type);
/* Sends bytes that are requested many times a second and are not worth compressing; consumes the
 * buffer (also on failure). */
int http_bytes(http_req *rq, int status, vp_buf *b);
/* Sends 303 to a path of this site ("/session/…"), or to an absolute URL that no request can
 * influence. */
int http_redirect(http_req *rq, const char *location);

/* Allows the response of this request to be reused for ms milliseconds for the same target and
 * encoding; small ones are then sent again without calling the handler. Not for HTTP_CORS routes,
 * nor for responses that depend on other headers. */
void http_keep(http_req *rq, int64_t ms);

#endif
