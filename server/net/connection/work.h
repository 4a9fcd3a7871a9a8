/* The threads that run slow handlers, while their connections are suspended. Threads start when
 * they are needed, up to a bound; what does not fit waits in a queue with a bound of its own.
 * Thread-safe. */
#ifndef VP_NET_WORK_H
#define VP_NET_WORK_H

#include <stdbool.h>

#include "server/net/request/handler.h"

typedef struct http_pool http_pool;
/* What a worker does with a request. */
typedef void http_job_fn(http_req *rq);

int http_pool_new(http_pool **out, http_job_fn *run);
/* Waits for what is running and queued. */
void http_pool_free(http_pool *p);
/* Hands a suspended request to a worker. false: the queue is full. */
bool http_pool_submit(http_pool *p, http_req *rq);

#endif
