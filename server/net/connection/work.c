#include "server/net/connection/work.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <time.h>

#include "server/net/request/request.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"

/* Workers usually wait (for files, or for an analysis in progress), so there are more of them than
 * processors; the store limits the number of simultaneous analyses. */
#define WORKERS_MAX 16
#define QUEUE_MAX 128
/* An idle worker exits after this many seconds. */
#define IDLE_S 3

struct http_pool {
    http_job_fn *run;
    pthread_mutex_t lock;
    pthread_cond_t work, gone;
    http_req *first, **last;
    int queued, idle, thread_count;
    bool stop;
};

/* Called with the lock held. NULL if the worker has to exit: idle for a while, or the server stops.
 */
static http_req *take_job(http_pool *p)
{
    struct timespec until = vp_cond_until(IDLE_S * 1000);
    p->idle++;
    while (!p->first && !p->stop && pthread_cond_timedwait(&p->work, &p->lock, &until) != ETIMEDOUT)
        ;
    p->idle--;
    http_req *rq = p->first;
    if (rq) {
        p->first = rq->next_job;
        if (!p->first)
            p->last = &p->first;
        p->queued--;
    }
    return rq;
}

static void *worker_thread(void *arg)
{
    http_pool *p = arg;
    http_req *rq;
    pthread_mutex_lock(&p->lock);
    while ((rq = take_job(p))) {
        pthread_mutex_unlock(&p->lock);
        p->run(rq);
        pthread_mutex_lock(&p->lock);
    }
    if (p->thread_count == 1 &&
        !p->stop) { /* the last worker returns the memory of analyses to the system */
        pthread_mutex_unlock(&p->lock);
        malloc_trim(0);
        pthread_mutex_lock(&p->lock);
    }
    p->thread_count--;
    pthread_cond_signal(&p->gone);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Called with the lock. */
static void add_worker(http_pool *p)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, worker_thread, p))
        return;
    pthread_detach(thread);
    p->thread_count++;
}

int http_pool_new(http_pool **out, http_job_fn *run)
{
    http_pool *p = vp_calloc(1, sizeof *p);
    VP_NEED(p);
    pthread_mutex_init(&p->lock, NULL);
    vp_cond_init(&p->work);
    pthread_cond_init(&p->gone, NULL);
    p->run = run;
    p->last = &p->first;
    *out = p;
    return 0;
}

void http_pool_free(http_pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->work);
    while (p->thread_count)
        pthread_cond_wait(&p->gone, &p->lock);
    pthread_mutex_unlock(&p->lock);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->gone);
    vp_free(p);
}

bool http_pool_submit(http_pool *p, http_req *rq)
{
    bool ok;
    pthread_mutex_lock(&p->lock);
    if (p->queued >= p->idle && p->thread_count < WORKERS_MAX)
        add_worker(p);
    ok = !p->stop && p->thread_count && p->queued < QUEUE_MAX;
    if (ok) {
        rq->next_job = NULL;
        *p->last = rq;
        p->last = &rq->next_job;
        p->queued++;
        pthread_cond_signal(&p->work);
    }
    pthread_mutex_unlock(&p->lock);
    return ok;
}
