#include "server/net/connection/watchdog.h"

#include <linux/tcp.h> /* glibc's own header lacks tcpi_bytes_received */
#include <malloc.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"
#include "trace/base/time.h"

#define TICK_MS 500
#define MANY 64
#define NEVER INT64_MAX

struct http_watched {
    http_watched *next, **link;
    int fd;
    _Atomic int64_t deadline_ms; /* monotonic; NEVER: none */
    _Atomic int64_t head_ms;     /* > 0 while idle */
    _Atomic unsigned idle_spell; /* number of idle periods */
    /* Used only by the watching thread: the last idle period that it saw, and the bytes received
     * until then. */
    unsigned seen_spell;
    uint64_t seen_bytes;
};

struct http_watchdog {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    http_watched *list;
    unsigned count, peak; /* connections: current number, and maximum since there were none */
    bool was_idle;        /* at the last tick, after many connections */
    bool stop;
};

static void wait_a_tick(http_watchdog *w)
{
    struct timespec t = vp_cond_until(TICK_MS);
    pthread_cond_timedwait(&w->wake, &w->lock, &t);
}

/* Total bytes received; 0 if unknown (not TCP). */
static uint64_t bytes_received(int fd)
{
    struct tcp_info info;
    socklen_t n = sizeof info;
    memset(&info, 0, sizeof info);
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) < 0 ? 0 : info.tcpi_bytes_received;
}

/* libmicrohttpd does not report when an idle connection starts its next head, so each tick checks
 * for new bytes. The head can have started up to two ticks before. */
static void look_at_idle(http_watched *c, int64_t now)
{
    int64_t head_ms = atomic_load(&c->head_ms);
    unsigned spell = atomic_load(&c->idle_spell);
    if (head_ms <= 0)
        return;
    uint64_t bytes = bytes_received(c->fd);
    if (spell != c->seen_spell) {
        c->seen_spell = spell;
        c->seen_bytes = bytes;
        return;
    }
    int64_t never = NEVER, deadline = now + head_ms - 2 * TICK_MS;
    if (bytes > c->seen_bytes &&
        atomic_compare_exchange_strong(&c->deadline_ms, &never, deadline) &&
        atomic_load(&c->head_ms) <= 0) /* the head is complete and the request is being answered */
        atomic_compare_exchange_strong(&c->deadline_ms, &deadline, NEVER);
}

/* Called with the lock held. Returns memory to the system when no connection is left after many;
 * the allocator would keep it. A connection is unwatched before libmicrohttpd frees its memory, so
 * this happens one tick later. */
static void give_back(http_watchdog *w)
{
    bool idle = !w->count && w->peak >= MANY;
    if (idle && w->was_idle) {
        w->peak = 0;
        malloc_trim(0);
    }
    w->was_idle = idle;
}

static void *watchdog_thread(void *arg)
{
    http_watchdog *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        int64_t now = vp_now_coarse_ms();
        for (http_watched *c = w->list; c; c = c->next) {
            look_at_idle(c, now);
            if (now >= atomic_load(&c->deadline_ms)) {
                /* The descriptor is still open: its owner unwatches before closing. */
                shutdown(c->fd, SHUT_RDWR);
                atomic_store(&c->deadline_ms, NEVER);
            }
        }
        give_back(w);
        wait_a_tick(w);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

int http_watchdog_new(http_watchdog **out)
{
    http_watchdog *w = vp_calloc(1, sizeof *w);
    VP_NEED(w);
    pthread_mutex_init(&w->lock, NULL);
    vp_cond_init(&w->wake);
    if (pthread_create(&w->thread, NULL, watchdog_thread, w)) {
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
    atomic_store(&c->deadline_ms, NEVER);
    pthread_mutex_lock(&w->lock);
    c->next = w->list;
    c->link = &w->list;
    if (c->next)
        c->next->link = &c->next;
    w->list = c;
    w->peak = ++w->count > w->peak ? w->count : w->peak;
    pthread_mutex_unlock(&w->lock);
    return c;
}

void http_unwatch(http_watchdog *w, http_watched *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&w->lock);
    w->count--;
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    pthread_mutex_unlock(&w->lock);
    vp_free(c);
}

void http_watch_limit(http_watched *c, int64_t ms)
{
    if (!c)
        return;
    atomic_store(&c->head_ms, 0);
    atomic_store(&c->deadline_ms, ms < 0 ? NEVER : vp_now_coarse_ms() + ms);
}

void http_watch_idle(http_watched *c, int64_t head_ms)
{
    if (!c)
        return;
    atomic_store(&c->deadline_ms, NEVER);
    atomic_fetch_add(&c->idle_spell, 1);
    atomic_store(&c->head_ms, head_ms);
}
