/* Declarations shared by the files of http_call.h. */
#ifndef VP_FETCH_HTTP_PARTS_H
#define VP_FETCH_HTTP_PARTS_H

#include "server/fetch/http/http_call.h"
#include "server/fetch/http/http_guard.h"

/* Clears the previous response. */
void http_begin_answer(http_call *c);
/* libcurl's callbacks; arg: the call. */
size_t http_take_header(char *p, size_t size, size_t n, void *arg);
size_t http_take_body(char *p, size_t size, size_t n, void *arg);
/* Sets all options of one try and signs it. The caller frees *lines after the try. */
int http_set_up(http_call *c, const char *host, struct curl_slist **lines);
/* Returns whether an address of this nearness is allowed. The first request sets the limit for its
 * redirects. */
bool http_may_go(http_call *c, http_nearness to);
/* Returns whether the environment names a proxy for this address, by the rules of libcurl. */
bool http_has_proxy(const char *url);

#endif
