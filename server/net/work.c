#include "server/net/work.h"

#include <pthread.h>

#include "server/net/request.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

/* Workers mostly wait (for files, for an analysis that somebody else started), so there are more
 * than processors; the store bounds how many analyses run at once. */
#define WORKERS_MAX 16
#define QUEUE_MAX 128

struct http_pool {
    pthread_mutex_t lock;
    pthread_cond_t work;
    http_req *first, **last;
    int queued, idle, thread_count;
    pthread_t threads[WORKERS_MAX];
    bool stop;
};

static http_req *take_job(http_pool *p)
{
    http_req *rq = NULL;
    pthread_mutex_lock(&p->lock);
    p->idle++;
    while (!p->first && !p->stop)
        pthread_cond_wait(&p->work, &p->lock);
    p->idle--;
    if (p->first) {
        rq = p->first;
        p->first = rq->next_job;
        if (!p->first)
            p->last = &p->first;
        p->queued--;
    }
    pthread_mutex_unlock(&p->lock);
    return rq;
}

static void *worker(void *arg)
{
    http_req *rq;
    while ((rq = take_job(arg)))
        http_run_job(rq);
    return NULL;
}

int http_pool_new(http_pool **out)
{
    http_pool *p = vp_calloc(1, sizeof *p);
    if (!p)
        return vp_fail(VP_ENOMEM, "out of memory");
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
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
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->thread_count; i++)
        pthread_join(p->threads[i], NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    vp_free(p);
}

bool http_pool_submit(http_pool *p, http_req *rq)
{
    bool ok;
    pthread_mutex_lock(&p->lock);
    if (p->queued >= p->idle && p->thread_count < WORKERS_MAX &&
        !pthread_create(&p->threads[p->thread_count], NULL, worker, p))
        p->thread_count++;
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
