/* Declarations shared by the files of http_call.h. */
#ifndef VP_FETCH_HTTP_PARTS_H
#define VP_FETCH_HTTP_PARTS_H

#include "server/fetch/http/http_call.h"
#include "server/fetch/http/http_guard.h"

/* Forgets the answer before this one. */
void http_begin_answer(http_call *c);
/* libcurl's callbacks; arg: the call. */
size_t http_take_header(char *p, size_t size, size_t n, void *arg);
size_t http_take_body(char *p, size_t size, size_t n, void *arg);
/* Sets all options of one try, and has it signed; *lines are freed by the caller, after the try. */
int http_set_up(http_call *c, const char *host, struct curl_slist **lines);
/* Whether an address so near may be asked: the first one decides for those that it redirects to. */
bool http_may_go(http_call *c, http_nearness to);
/* Whether the environment names a proxy for this address; libcurl looks at the same. */
bool http_has_proxy(const char *url);

#endif
