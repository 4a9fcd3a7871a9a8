/* Worker threads for slow handlers, whose connections are suspended meanwhile. Threads are started
 * on demand up to a limit; further work waits in a bounded queue. Thread-safe. */
#ifndef VP_NET_WORK_H
#define VP_NET_WORK_H

#include <stdbool.h>

#include "server/net/request/handler.h"

typedef struct http_pool http_pool;
/* The function that a worker runs for a request. */
typedef void http_job_fn(http_req *rq);

int http_pool_new(http_pool **out, http_job_fn *run);
/* Waits for running and queued requests. */
void http_pool_free(http_pool *p);
/* Queues a suspended request for a worker. false: the queue is full. */
bool http_pool_submit(http_pool *p, http_req *rq);

#endif
