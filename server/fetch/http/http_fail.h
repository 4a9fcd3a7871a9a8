/* Turns an error response of a store into a one-line error: from the status, the code and message
 * in its XML or JSON, and its Date header. */
#ifndef VP_FETCH_HTTP_FAIL_H
#define VP_FETCH_HTTP_FAIL_H

#include "server/fetch/http/http_call.h"

/* Records the error of a response without 2xx, sets the status of the request, and returns
 * VP_ENOTFOUND, VP_EREFUSED, VP_EIO (the object changed) or VP_EREMOTE. */
int http_failure(http_call *c);
/* Finds the content of the first <name> or "name": "…" in the first 16 KiB of a response,
 * unchanged. The view is valid as long as the response. */
bool http_find(const http_call *c, const char *name, vp_str *out);
/* The same for user-visible text: one line, escaped for a terminal, in at most cap bytes; empty:
 * none. */
void http_said(const http_call *c, const char *name, char *out, size_t cap);

#endif
