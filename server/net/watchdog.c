#include "server/net/watchdog.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <time.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

struct http_watched {
    http_watched *next, **link;
    int fd;
    int64_t deadline_ms; /* monotonic; -1: none */
};

struct http_watchdog {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    http_watched *list;
    bool stop;
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void wait_a_second(http_watchdog *w)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += 1;
    pthread_cond_timedwait(&w->wake, &w->lock, &t);
}

static void *watch(void *arg)
{
    http_watchdog *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        int64_t now = now_ms();
        for (http_watched *c = w->list; c; c = c->next)
            if (c->deadline_ms >= 0 && now >= c->deadline_ms) {
                /* The descriptor is still open: its owner unwatches before closing. */
                shutdown(c->fd, SHUT_RDWR);
                c->deadline_ms = -1;
            }
        wait_a_second(w);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

int http_watchdog_new(http_watchdog **out)
{
    http_watchdog *w = vp_calloc(1, sizeof *w);
    pthread_condattr_t attr;
    if (!w)
        return vp_fail(VP_ENOMEM, "out of memory");
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &attr);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&w->thread, NULL, watch, w)) {
        vp_free(w);
        return vp_fail(VP_EIO, "cannot start a thread");
    }
    *out = w;
    return 0;
}

void http_watchdog_free(http_watchdog *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->wake);
    vp_free(w);
}

http_watched *http_watch(http_watchdog *w, int fd)
{
    http_watched *c = vp_calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->fd = fd;
    c->deadline_ms = -1;
    pthread_mutex_lock(&w->lock);
    c->next = w->list;
    c->link = &w->list;
    if (c->next)
        c->next->link = &c->next;
    w->list = c;
    pthread_mutex_unlock(&w->lock);
    return c;
}

void http_unwatch(http_watchdog *w, http_watched *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&w->lock);
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    pthread_mutex_unlock(&w->lock);
    vp_free(c);
}

void http_watch_limit(http_watchdog *w, http_watched *c, int64_t ms)
{
    if (!c)
        return;
    pthread_mutex_lock(&w->lock);
    c->deadline_ms = ms < 0 ? -1 : now_ms() + ms;
    pthread_mutex_unlock(&w->lock);
}
