/* Turns an error response of a store into a one-line error: from the status, the code and message
 * in its XML or JSON, and its Date header. */
#ifndef VP_FETCH_HTTP_FAIL_H
#define VP_FETCH_HTTP_FAIL_H

#include "server/fetch/http/http_call.h"

/* Records what is wrong with an answer that is no success, sets the question's status, and returns
 * VP_ENOTFOUND, VP_EREFUSED, VP_EIO (it changed) or VP_EREMOTE. */
int http_failure(http_call *c);
/* The content of the first <name> or "name": "…" in the first 16 KiB of an answer, as it is; it
 * lives as long as the answer. */
bool http_find(const http_call *c, const char *name, vp_str *out);
/* The same of what is told on: one line, escaped for a terminal, in at most cap bytes; empty: none.
 */
void http_said(const http_call *c, const char *name, char *out, size_t cap);

#endif
