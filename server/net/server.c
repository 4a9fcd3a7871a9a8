#include "server/net/server.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "server/net/answer/cache.h"
#include "server/net/answer/memo.h"
#include "server/net/answer/stream_answer.h"
#include "server/net/config.h"
#include "server/net/connection/work.h"
#include "server/net/dispatch.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"

/* In ms: time for requests in flight. Stopping takes 10 s at most, a part of which canceled
 * analyses and threads need. */
#define DRAIN_MS 7000
/* In s: maximum idle time between two requests; the inactivity timeout of libmicrohttpd. */
#define IDLE_S 30u

/* ---- Loops -------------------------------------------------------------------------------- */

/* Keeps percent escapes; path.c decodes them once. */
static size_t keep_escapes(void *cls, struct MHD_Connection *conn, char *text)
{
    (void)cls;
    (void)conn;
    return strlen(text);
}

static void keep_quiet(void *cls, const char *fmt, va_list ap)
{
    (void)cls;
    (void)fmt;
    (void)ap;
}

static int loops_wanted(void)
{
    int n = vp_cpus();
    return n > HTTP_SHARED_LOOPS_MAX ? HTTP_SHARED_LOOPS_MAX : n;
}

void http_more_descriptors(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur >= VP_HTTP_DESCRIPTORS)
        return;
    r.rlim_cur = r.rlim_max < VP_HTTP_DESCRIPTORS ? r.rlim_max : VP_HTTP_DESCRIPTORS;
    (void)setrlimit(RLIMIT_NOFILE, &r); /* if that fails, the current limit is used */
}

/* Each connection needs a descriptor and one for the file that it sends, and the rest of the
 * program needs some. Clients beyond the limit wait to be accepted; without free descriptors they
 * would be refused. next: about the lowest free descriptor. */
static unsigned connections_max(int next, int sockets)
{
    struct rlimit r;
    rlim_t others = (rlim_t)next + 32;
    if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur < others + 16)
        return 8;
    rlim_t fit = (r.rlim_cur - others) / 2 / (rlim_t)sockets;
    return fit < VP_HTTP_CONNECTIONS_MAX ? (unsigned)fit : VP_HTTP_CONNECTIONS_MAX;
}

/* Starts a loop for a listening socket; takes ownership of it on success. The guard checks requests
 * strictly: STRICT_FOR_CLIENT of libmicrohttpd would close connections without an error response.
 */
static int add_loop(http_server *s, int fd, unsigned connections)
{
    http_serving *serving = &s->serving;
    http_loop *l;
    VP_TRY(http_loop_new(&l, serving));
    http_loop_conns(l)->limit = connections;
    struct MHD_Daemon *d = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG | MHD_USE_TURBO, 0, NULL, NULL,
        http_on_request, serving, MHD_OPTION_EXTERNAL_LOGGER, keep_quiet, NULL,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)VP_HTTP_POOL,
        MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, serving->policy.bound ? VP_HTTP_PER_IP_MAX : 0,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_URI_LOG_CALLBACK, http_on_uri,
        serving, MHD_OPTION_NOTIFY_COMPLETED, http_on_completed, serving,
        MHD_OPTION_NOTIFY_CONNECTION, http_on_connection, l, MHD_OPTION_END);
    if (!d) {
        http_loop_stop(l);
        return vp_fail(VP_EIO, "cannot start the HTTP server");
    }
    if (http_loop_take(l, d) < 0) {
        MHD_quiesce_daemon(d); /* the caller keeps the socket */
        MHD_stop_daemon(d);
        http_loop_stop(l);
        return VP_EIO;
    }
    s->loops[s->loop_count++] = l;
    return 0;
}

/* Several loops share the first socket, each with its own descriptor, because a daemon closes its
 * listening socket. */
static int share_first_socket(http_server *s, int loops, unsigned connections)
{
    for (int i = 0; i < loops; i++) {
        VP_CLEANUP(vp_fs_close) int fd = fcntl(s->sockets.fds[0], F_DUPFD_CLOEXEC, 0);
        if (fd < 0)
            return vp_fail(VP_EIO, "no file descriptor left for the HTTP server");
        VP_TRY(add_loop(s, fd, connections / (unsigned)loops));
        fd = -1;
    }
    vp_fs_close(&s->sockets.fds[0]);
    return 0;
}

static int start_loops(http_server *s)
{
    unsigned connections = connections_max(s->sockets.fds[0], s->sockets.count);
    VP_TRY(share_first_socket(s, loops_wanted(), connections));
    for (int i = 1; i < s->sockets.count; i++) {
        VP_TRY(add_loop(s, s->sockets.fds[i], connections));
        s->sockets.fds[i] = -1;
    }
    for (int i = 0; i < s->loop_count; i++) /* each may ask for any of them */
        VP_TRY(http_loop_start(s->loops[i]));
    return 0;
}

static int start_threads(http_server *s)
{
    http_serving *serving = &s->serving;
    sigset_t before;
    vp_thread_mask(&before);
    int rc = http_watchdog_new(&serving->watchdog);
    if (!rc)
        rc = http_pool_new(&serving->pool, http_run_job);
    if (!rc)
        rc = http_cache_new(&serving->cache);
    if (!rc)
        rc = http_memo_new(&serving->memo);
    if (!rc)
        rc = http_flows_new(&serving->flows);
    if (!rc)
        rc = start_loops(s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

int http_start(http_server **out, const http_config *cfg)
{
    VP_TRY(http_lib_load());
    http_server *s = vp_calloc(1, sizeof *s);
    VP_NEED(s);
    int rc = http_configure(s, cfg);
    if (!rc)
        rc = start_threads(s);
    if (rc < 0) {
        http_stop(s);
        return rc;
    }
    *out = s;
    return 0;
}

/* ---- The end ------------------------------------------------------------------------------ */

static void drain_requests(const http_serving *s)
{
    const struct timespec step = {0, 10 * 1000000};
    for (int waited = 0; atomic_load(&s->active) && waited < DRAIN_MS; waited += 10)
        nanosleep(&step, NULL);
}

void http_stop(http_server *s)
{
    if (!s)
        return;
    http_serving *serving = &s->serving;
    atomic_store(&serving->stopping, true);
    for (int i = 0; i < s->loop_count; i++)
        http_loop_quiesce(s->loops[i]);
    if (s->loop_count)
        drain_requests(serving);
    /* A loop must not stop while a connection is suspended, so all of them are resumed first. */
    if (s->cancel && s->loop_count)
        s->cancel(serving->ctx);
    http_flows_abort(serving->flows);
    http_pool_free(serving->pool);
    for (int i = 0; i < s->loop_count; i++)
        http_loop_stop(s->loops[i]);
    http_flows_free(serving->flows);
    http_watchdog_free(serving->watchdog);
    http_cache_free(serving->cache);
    http_memo_free(serving->memo);
    http_unconfigure(s);
    vp_free(s);
}

bool http_stopping(const http_server *s)
{
    return atomic_load(&s->serving.stopping);
}

/* ---- What is asked of it ------------------------------------------------------------------- */

uint16_t http_server_port(const http_server *s)
{
    return s->serving.policy.port;
}

bool http_server_has_token(const http_server *s)
{
    return s->token != NULL;
}

const char *http_server_url(const http_server *s)
{
    return s->url;
}

bool http_names_loopback(const char *host)
{
    return http_is_loopback(host);
}
