#include <arpa/inet.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "server/net/listen.h"
#include "server/net/request.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

#define DRAIN_MS 10000
#define THREADS_MAX 4

/* ---- Configuration ------------------------------------------------------------------------ */

static bool is_loopback(const char *host)
{
    struct in_addr v4;
    if (!host || !strcmp(host, "localhost") || !strcmp(host, "::1"))
        return true;
    return inet_pton(AF_INET, host, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127;
}

static int copy_list(char ***out, const char *const *first, const char *const *second)
{
    size_t n = 0, k = 0;
    for (const char *const *p = first; p && *p; p++)
        n++;
    for (const char *const *p = second; p && *p; p++)
        n++;
    char **list = vp_calloc(n + 1, sizeof *list);
    if (!list)
        return vp_fail(VP_ENOMEM, "out of memory");
    *out = list; /* freed by the server, also when a copy fails */
    for (int i = 0; i < 2; i++)
        for (const char *const *p = i ? second : first; p && *p; p++)
            if (!(list[k++] = vp_strdup(*p)))
                return vp_fail(VP_ENOMEM, "out of memory");
    return 0;
}

static void free_list(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        vp_free(list[i]);
    vp_free(list);
}

static int make_token(char **out)
{
    unsigned char raw[16];
    char *z = vp_calloc(2 * sizeof raw + 1, 1);
    if (!z)
        return vp_fail(VP_ENOMEM, "out of memory");
    if (getrandom(raw, sizeof raw, 0) != (ssize_t)sizeof raw) {
        vp_free(z);
        return vp_fail(VP_EIO, "no random numbers for a token");
    }
    for (size_t i = 0; i < sizeof raw; i++) {
        z[2 * i] = "0123456789abcdef"[raw[i] >> 4];
        z[2 * i + 1] = "0123456789abcdef"[raw[i] & 15];
    }
    *out = z;
    return 0;
}

static int set_token(http_server *s, const http_config *cfg)
{
    if (!cfg->token)
        return is_loopback(cfg->host) ? 0 : make_token(&s->token);
    if (strlen(cfg->token) < 16)
        return vp_fail(VP_EARG, "the token is shorter than 16 characters");
    for (const char *p = cfg->token; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", *p))
            return vp_fail(VP_EARG, "the token may hold letters, digits, - and _ only");
    s->token = vp_strdup(cfg->token);
    return s->token ? 0 : vp_fail(VP_ENOMEM, "out of memory");
}

static int set_policy(http_server *s, const http_config *cfg)
{
    static const char *const perfetto[] = {"https://ui.perfetto.dev", "http://localhost:10000",
                                           "http://127.0.0.1:10000", NULL};
    VP_TRY(copy_list(&s->hosts, cfg->allow_hosts, NULL));
    VP_TRY(copy_list(&s->origins, perfetto, cfg->allow_origins));
    VP_TRY(set_token(s, cfg));
    if (cfg->host && !is_loopback(cfg->host) && !(s->bound = vp_strdup(cfg->host)))
        return vp_fail(VP_ENOMEM, "out of memory");
    s->policy = (guard_policy){
        .any_address = s->bound && (!strcmp(s->bound, "0.0.0.0") || !strcmp(s->bound, "::")),
        .bound = s->bound,
        .hosts = (const char *const *)s->hosts,
        .origins = (const char *const *)s->origins,
        .token = s->token,
    };
    return 0;
}

static int set_url(http_server *s, const http_config *cfg)
{
    vp_buf b;
    const char *host = s->policy.any_address || !cfg->host || !strcmp(cfg->host, "localhost")
                           ? "127.0.0.1"
                           : cfg->host;
    bool v6 = strchr(host, ':') != NULL;
    vp_buf_init(&b, 1024);
    vp_buf_printf(&b, "http://%s%s%s:%u/", v6 ? "[" : "", host, v6 ? "]" : "", s->policy.port);
    if (s->token)
        vp_buf_printf(&b, "?token=%s", s->token);
    s->url = vp_buf_take(&b, NULL);
    return s->url ? 0 : vp_fail(VP_ENOMEM, "out of memory");
}

/* ---- Daemons -------------------------------------------------------------------------------- */

/* Leaves percent escapes alone: path.c decodes, once. */
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

static void on_connection(void *server, struct MHD_Connection *conn, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    http_server *s = server;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        http_unwatch(s->watchdog, *context);
        *context = NULL;
        return;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
    *context = info ? http_watch(s->watchdog, info->connect_fd) : NULL;
    http_watch_limit(s->watchdog, *context, HTTP_HEAD_MS);
}

static unsigned pool_size(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 2 ? 0 : n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
}

/* Takes the listening socket when it succeeds. */
static int start_daemon(http_server *s, int fd, unsigned threads)
{
    struct MHD_OptionItem pool[] = {{MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)threads, NULL},
                                    {MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    struct MHD_Daemon *d = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
            MHD_USE_TURBO,
        0, NULL, NULL, http_on_request, s, MHD_OPTION_EXTERNAL_LOGGER, keep_quiet, NULL,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)VP_HTTP_POOL,
        MHD_OPTION_CONNECTION_LIMIT, VP_HTTP_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
        HTTP_IDLE_S, MHD_OPTION_PER_IP_CONNECTION_LIMIT, VP_HTTP_PER_IP_MAX,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_URI_LOG_CALLBACK, http_on_uri,
        s, MHD_OPTION_NOTIFY_COMPLETED, http_on_completed, s, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, s, MHD_OPTION_ARRAY, threads > 1 ? pool : none, MHD_OPTION_END);
    if (!d)
        return vp_fail(VP_EIO, "cannot start the HTTP server");
    s->daemons[s->daemon_count++] = d;
    return 0;
}

static int start_daemons(http_server *s, http_sockets *sockets)
{
    int rc = 0, started = 0;
    for (; started < sockets->count && !rc; started++)
        rc = start_daemon(s, sockets->fds[started], started ? 0 : pool_size());
    for (int i = rc ? started - 1 : started; i < sockets->count; i++)
        vp_fs_close(&sockets->fds[i]);
    return rc;
}

/* Signals belong to the application's threads: ours block them, except those that a thread raises
 * by its own fault, which must reach whoever reports crashes. */
static void signals_for_others(sigset_t *set)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigfillset(set);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(set, faults[i]);
}

static int start_threads(http_server *s, http_sockets *sockets)
{
    sigset_t others, before;
    signals_for_others(&others);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    int rc = http_watchdog_new(&s->watchdog);
    if (!rc)
        rc = http_pool_new(&s->pool);
    if (!rc) {
        rc = start_daemons(s, sockets);
    } else {
        vp_fs_close(&sockets->fds[0]);
        vp_fs_close(&sockets->fds[1]);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

int http_start(http_server **out, const http_config *cfg)
{
    http_sockets sockets;
    http_server *s = vp_calloc(1, sizeof *s);
    if (!s)
        return vp_fail(VP_ENOMEM, "out of memory");
    pthread_mutex_init(&s->flow_lock, NULL);
    pthread_cond_init(&s->flow_gone, NULL);
    s->routes = cfg->routes;
    s->ctx = cfg->ctx;
    s->cancel = cfg->cancel;
    int rc = set_policy(s, cfg);
    if (!rc)
        rc = http_listen(&sockets, cfg->host, cfg->port);
    if (!rc) {
        s->policy.port = sockets.port;
        rc = set_url(s, cfg);
        if (rc < 0) {
            vp_fs_close(&sockets.fds[0]);
            vp_fs_close(&sockets.fds[1]);
        } else {
            rc = start_threads(s, &sockets);
        }
    }
    if (rc < 0) {
        http_stop(s);
        return rc;
    }
    *out = s;
    return 0;
}

/* ---- The end ------------------------------------------------------------------------------ */

static void drain(http_server *s)
{
    const struct timespec step = {0, 10 * 1000000};
    for (int waited = 0; atomic_load(&s->active) && waited < DRAIN_MS; waited += 10)
        nanosleep(&step, NULL);
}

void http_stop(http_server *s)
{
    if (!s)
        return;
    atomic_store(&s->stopping, true);
    int listening[sizeof s->daemons / sizeof *s->daemons];
    bool busy = atomic_load(&s->active);
    for (int i = 0; i < s->daemon_count; i++) {
        /* Refuses new connections at once, but stays open until the daemon is gone: its threads
         * still take it out of their epoll sets and abort the program when it is no descriptor.
         * Without anything to wait for the daemon stops at once: quiescing races with its own
         * threads for that removal. */
        listening[i] = busy ? MHD_quiesce_daemon(s->daemons[i]) : -1;
        if (listening[i] >= 0)
            shutdown(listening[i], SHUT_RDWR);
    }
    if (s->daemon_count)
        drain(s);
    /* A daemon must not stop while a connection is suspended: let every holder resume its own. */
    atomic_store(&s->cancelled, true);
    if (s->cancel && s->daemon_count)
        s->cancel(s->ctx);
    http_abort_flows(s);
    http_pool_free(s->pool);
    for (int i = 0; i < s->daemon_count; i++) {
        MHD_stop_daemon(s->daemons[i]);
        vp_fs_close(&listening[i]);
    }
    http_wait_flows(s);
    http_watchdog_free(s->watchdog);
    pthread_mutex_destroy(&s->flow_lock);
    pthread_cond_destroy(&s->flow_gone);
    free_list(s->hosts);
    free_list(s->origins);
    vp_free(s->token);
    vp_free(s->bound);
    vp_free(s->url);
    vp_free(s);
}
