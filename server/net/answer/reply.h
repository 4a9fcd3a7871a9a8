/* Answers of a handler that are made in memory: pages, JSON, lines, failures, redirections. Each
 * returns 0, or a negative code where nothing could be answered. */
#ifndef VP_NET_REPLY_H
#define VP_NET_REPLY_H

#include "server/net/request/handler.h"

/* A plain-text (HTTP_API: JSON) failure; control characters in the text are escaped. */
int http_fail(http_req *rq, int status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The HTTP status that says what a code of ours does: 404, 422, 503 … */
int http_status_of(int code);
/* The calling thread's last failure under its status. Never shows absolute paths. */
int http_error(http_req *rq);
/* A page or JSON; the buffer is consumed (also on failure) and gzipped when that is accepted. */
int http_html(http_req *rq, int status, vp_buf *b);
int http_json(http_req *rq, int status, vp_buf *b);
int http_text(http_req *rq, int status, const char *text);
/* Any text, line ends included; the buffer is consumed (also on failure). */
int http_plain(http_req *rq, int status, vp_buf *b, const char *type);
/* Bytes that are asked for many times a second and are not worth packing on their way; the buffer
 * is consumed (also on failure). */
int http_bytes(http_req *rq, int status, vp_buf *b);
/* 303 to a path of ours ("/session/…"), or to an absolute URL that no request can influence. */
int http_redirect(http_req *rq, const char *location);

/* The answer about to be given is good for whoever sends the same target during the next ms
 * milliseconds (and accepts the same coding): small ones are then sent again without asking the
 * handler. Not for HTTP_CORS routes, nor for what depends on any other header. */
void http_keep(http_req *rq, int64_t ms);

#endif
