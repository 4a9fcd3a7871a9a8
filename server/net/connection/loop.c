#include "server/net/connection/loop.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"

struct http_loop {
    http_serving *serving;
    http_conns conns;
    struct MHD_Daemon *daemon;
    pthread_t thread;
    int events, wake; /* events: the daemon's epoll set, which it owns; wake: an eventfd of ours */
    int listening;    /* what the daemon gave back when it was quiesced, or -1 */
    bool started;
    bool closed; /* a connection was closed since the daemon looked whether it may accept one */
    _Atomic bool quiesce, stop;
};

static int timeout_of(struct MHD_Daemon *d)
{
    MHD_UNSIGNED_LONG_LONG ms;
    if (MHD_get_timeout(d, &ms) != MHD_YES)
        return -1;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

/* The daemon may still use the socket, so it is closed together with the daemon. It is shut down
 * here, so no client can connect to it any more. */
static void refuse_more(http_loop *l)
{
    l->listening = MHD_quiesce_daemon(l->daemon);
    if (l->listening >= 0)
        shutdown(l->listening, SHUT_RDWR);
}

/* Does not wait when the daemon has something left to do: it then looks for events itself. */
static bool wait_for_events(http_loop *l)
{
    struct pollfd fds[] = {{.fd = l->events, .events = POLLIN}, {.fd = l->wake, .events = POLLIN}};
    uint64_t n;
    int ms = timeout_of(l->daemon);
    if (ms)
        poll(fds, 2, ms);
    return !fds[1].revents || read(l->wake, &n, sizeof n) >= 0;
}

static void *loop_thread(void *arg)
{
    http_loop *l = arg;
    bool quiet = false;
    while (!atomic_load(&l->stop)) {
        if (!wait_for_events(l))
            break;
        if (atomic_load(&l->quiesce) && !quiet) {
            refuse_more(l);
            quiet = true;
        }
        do { /* it listens again only when it runs again */
            l->closed = false;
            MHD_run(l->daemon);
        } while (l->closed);
    }
    return NULL;
}

static void wake_loop(http_loop *l)
{
    const uint64_t one = 1;
    ssize_t n = write(l->wake, &one, sizeof one); /* fails only if it is awake anyway */
    (void)n;
}

int http_loop_new(http_loop **out, http_serving *serving)
{
    http_loop *l = vp_calloc(1, sizeof *l);
    VP_NEED(l);
    l->serving = serving;
    l->listening = -1;
    l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (l->wake < 0) {
        vp_free(l);
        return vp_fail(VP_EIO, "no file descriptor left for the HTTP server");
    }
    *out = l;
    return 0;
}

http_serving *http_loop_serving(const http_loop *l)
{
    return l->serving;
}

http_conns *http_loop_conns(http_loop *l)
{
    return &l->conns;
}

int http_loop_take(http_loop *l, struct MHD_Daemon *d)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(d, MHD_DAEMON_INFO_EPOLL_FD);
    if (!info)
        return vp_fail(VP_EIO, "epoll_create failed for the HTTP server");
    l->events = info->epoll_fd;
    l->daemon = d;
    return 0;
}

int http_loop_start(http_loop *l)
{
    if (vp_thread_start(&l->thread, loop_thread, l) < 0)
        return vp_fail(VP_EIO, "cannot start a thread of the HTTP server");
    l->started = true;
    return 0;
}

void http_loop_quiesce(http_loop *l)
{
    atomic_store(&l->quiesce, true);
    wake_loop(l);
}

void http_loop_resume(http_loop *l, struct MHD_Connection *conn)
{
    MHD_resume_connection(conn);
    wake_loop(l);
}

void http_loop_closed(http_loop *l)
{
    l->closed = true;
}

void http_loop_stop(http_loop *l)
{
    if (!l)
        return;
    atomic_store(&l->stop, true);
    wake_loop(l);
    if (l->started)
        pthread_join(l->thread, NULL);
    if (l->daemon)
        MHD_stop_daemon(l->daemon);
    vp_fs_close(&l->listening);
    vp_fs_close(&l->wake);
    vp_free(l);
}
