/* Pool of libcurl easy handles by origin (scheme, host, port), with at most four active requests
 * per origin. A request whose consumer is stalled is not counted, so that it cannot block other
 * transfers. Thread-safe. */
#ifndef VP_FETCH_HTTP_POOL_H
#define VP_FETCH_HTTP_POOL_H

#include <curl/curl.h>

#include "server/fetch/question/fetch_answer.h"

#define HTTP_AT_ONCE 4

typedef struct http_origin http_origin;

/* Waits for a free slot at the origin and returns a handle with default options. Return *of and the
 * handle with http_pool_give. VP_ECANCELLED: a is abandoned (NULL: never); VP_ENOMEM. */
int http_pool_take(const char *origin, const fetch_ask *a, http_origin **of, CURL **out);
void http_pool_give(http_origin *of, CURL *easy);
/* Call these around a wait for the consumer. */
void http_pool_step_aside(http_origin *of);
void http_pool_step_back(http_origin *of);

#endif
