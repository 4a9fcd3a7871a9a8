#include "server/net/request/access_log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/json.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"

/* Bytes of buffered lines: one second of 2,000 requests. */
#define WAITING_MAX (512u << 10)
/* Bytes of one line: a head of 32 KiB with every byte escaped. */
#define LINE_MAX_BYTES (256u << 10)
/* Bytes of one write: PIPE_BUF, which a pipe accepts completely if poll() reports it writable
 * (pipe(7)). */
#define PIECE 4096u
/* In ms: how long closing waits for a stalled reader. */
#define LAST_MS 500

struct access_log {
    int fd;
    bool json;
    _Atomic bool stop;
    char *secret;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t some;
    vp_buf waiting;
    uint64_t dropped;
};

/* ---- One line ------------------------------------------------------------------------------- */

/* A client must not be able to forge a log line or to control a terminal: quotes and everything
 * except printable ASCII are written as \xNN, as by nginx. */
static void put_quoted(vp_buf *b, vp_str s)
{
    vp_buf_putc(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c < 0x20 || c > 0x7e || c == '"' || c == '\\')
            vp_buf_printf(b, "\\x%02X", c);
        else
            vp_buf_putc(b, (char)c);
    }
    vp_buf_putc(b, '"');
}

/* Replaces the token at any position. */
static void put_without(vp_buf *b, vp_str s, const char *secret)
{
    vp_str needle = vp_str_of(secret);
    while (needle.n) {
        size_t at = vp_str_find(s, needle);
        vp_buf_str(b, vp_str_head(s, at));
        if (at == s.n)
            return;
        vp_buf_puts(b, "[token]");
        s = vp_str_skip(s, at + needle.n);
    }
    vp_buf_str(b, s);
}

/* Also replaces the values of ?token=, right or wrong, because a mistyped secret is also a secret.
 * A key with an escape can spell "token". */
static void put_redacted(vp_buf *b, vp_str s, const char *secret)
{
    vp_str rest = s, part;
    char sep = '?';
    vp_take_until(&rest, '?', SIZE_MAX, &part);
    put_without(b, part, secret);
    for (bool more = part.n < s.n; more; sep = '&') {
        size_t before = rest.n;
        vp_take_until(&rest, '&', SIZE_MAX, &part);
        more = part.n < before;
        vp_str value = part, key;
        vp_take_until(&value, '=', SIZE_MAX, &key);
        vp_buf_putc(b, sep);
        bool hide = vp_str_eq_nocase(key, VP_STR("token")) || vp_str_find(key, VP_STR("%")) < key.n;
        put_without(b, hide ? key : part, secret);
        if (hide && key.n < part.n)
            vp_buf_puts(b, "=[token]");
    }
}

static void put_combined(vp_buf *b, const access_entry *e)
{
    char when[40];
    struct tm tm;
    time_t t = (time_t)(e->unix_ns / 1000000000);
    VP_CLEANUP(vp_buf_free) vp_buf request;
    gmtime_r(&t, &tm);
    strftime(when, sizeof when, "%d/%b/%Y:%H:%M:%S +0000", &tm);
    vp_buf_init(&request, LINE_MAX_BYTES);
    vp_buf_str(&request, e->method);
    vp_buf_putc(&request, ' ');
    vp_buf_str(&request, e->target);
    vp_buf_putc(&request, ' ');
    vp_buf_str(&request, e->version);
    vp_buf_printf(b, "%s - - [%s] ", e->remote, when);
    put_quoted(b, vp_buf_view(&request));
    vp_buf_printf(b, " %u ", e->status);
    if (e->bytes < 0)
        vp_buf_putc(b, '-');
    else
        vp_buf_i64(b, e->bytes);
    vp_buf_putc(b, ' ');
    put_quoted(b, e->referer.n ? e->referer : VP_STR("-"));
    vp_buf_putc(b, ' ');
    put_quoted(b, e->agent.n ? e->agent : VP_STR("-"));
}

static void put_access_json(vp_buf *b, const access_entry *e)
{
    char when[40];
    struct tm tm;
    vp_json j;
    time_t t = (time_t)(e->unix_ns / 1000000000);
    gmtime_r(&t, &tm);
    size_t n = strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(when + n, sizeof when - n, ".%03dZ", (int)(e->unix_ns % 1000000000 / 1000000));
    vp_json_init(&j, b);
    vp_json_begin_object(&j);
    vp_json_kcstr(&j, "time", when);
    vp_json_kcstr(&j, "remote", e->remote);
    vp_json_kstr(&j, "method", e->method);
    vp_json_kstr(&j, "target", e->target);
    vp_json_kstr(&j, "version", e->version);
    vp_json_kcstr(&j, "route", e->route);
    vp_json_ki64(&j, "status", e->status);
    vp_json_key(&j, "bytes");
    if (e->bytes < 0)
        vp_json_null(&j);
    else
        vp_json_i64(&j, e->bytes);
    vp_json_ki64(&j, "took_us", e->took_ns / 1000);
    vp_json_kstr(&j, "referer", e->referer);
    vp_json_kstr(&j, "user_agent", e->agent);
    vp_json_end_object(&j);
}

void access_log_format(vp_buf *b, const access_entry *e, bool json, const char *secret)
{
    VP_CLEANUP(vp_buf_free) vp_buf target, referer, agent;
    access_entry safe = *e;
    vp_buf_init(&target, LINE_MAX_BYTES);
    vp_buf_init(&referer, LINE_MAX_BYTES);
    vp_buf_init(&agent, LINE_MAX_BYTES);
    put_redacted(&target, e->target, secret);
    put_redacted(&referer, e->referer, secret);
    put_without(&agent, e->agent, secret);
    safe.target = vp_buf_view(&target);
    safe.referer = vp_buf_view(&referer);
    safe.agent = vp_buf_view(&agent);
    (json ? put_access_json : put_combined)(b, &safe);
    vp_buf_putc(b, '\n');
}

/* ---- The thread ----------------------------------------------------------------------------- */

static void say_dropped(vp_buf *b, uint64_t n, bool json)
{
    vp_buf_printf(b, json ? "{\"dropped\":%llu}\n" : "# %llu lines lost\n", (unsigned long long)n);
}

/* Never blocks indefinitely: an unread pipe must not prevent the server from stopping. */
static bool write_patiently(access_log *log, const char *p, size_t n)
{
    int last = LAST_MS;
    while (n) {
        struct pollfd out = {.fd = log->fd, .events = POLLOUT};
        int ready = poll(&out, 1, 50);
        if (!ready && atomic_load(&log->stop) && (last -= 50) < 0)
            return false;
        if (ready <= 0)
            continue;
        size_t piece = n < PIECE ? n : PIECE;
        if (vp_fs_write_all(log->fd, p, piece) < 0)
            return false;
        p += piece;
        n -= piece;
    }
    return true;
}

static uint64_t lines_in(const vp_buf *b)
{
    uint64_t n = 0;
    for (size_t i = 0; i < b->n; i++)
        n += b->p[i] == '\n';
    return n;
}

static void *write_lines(void *arg)
{
    access_log *log = arg;
    pthread_mutex_lock(&log->lock);
    for (bool last = false; !last;) {
        while (!atomic_load(&log->stop) && !log->waiting.n)
            pthread_cond_wait(&log->some, &log->lock);
        last = atomic_load(&log->stop);
        vp_buf lines = log->waiting;
        uint64_t dropped = log->dropped;
        vp_buf_init(&log->waiting, WAITING_MAX + 128);
        log->dropped = 0;
        pthread_mutex_unlock(&log->lock);
        if (dropped)
            say_dropped(&lines, dropped, log->json);
        uint64_t lost = write_patiently(log, lines.p, lines.n) ? 0 : lines_in(&lines);
        vp_buf_free(&lines);
        pthread_mutex_lock(&log->lock);
        log->dropped += lost;
    }
    pthread_mutex_unlock(&log->lock);
    return NULL;
}

static int open_log_target(const char *path)
{
    int fd = !strcmp(path, "-") ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                                : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    vp_fail(VP_EIO, "cannot open the access log: %s", strerror(errno));
    return vp_fail_at(VP_EIO, path, -1, -1);
}

int access_log_open(access_log **out, const char *path, bool json, const char *secret)
{
    access_log *log = vp_calloc(1, sizeof *log);
    VP_NEED(log);
    pthread_mutex_init(&log->lock, NULL);
    pthread_cond_init(&log->some, NULL);
    vp_buf_init(&log->waiting, WAITING_MAX + 128);
    log->json = json;
    log->secret = secret ? vp_strdup(secret) : NULL;
    log->fd = open_log_target(path);
    int rc = log->fd < 0 ? log->fd : vp_thread_start(&log->thread, write_lines, log);
    if (!rc && (!secret || log->secret)) {
        *out = log;
        return 0;
    }
    rc = rc ? rc : vp_no_memory();
    vp_fs_close(&log->fd);
    vp_free(log->secret);
    vp_free(log);
    return rc;
}

void access_log_put(access_log *log, const access_entry *e)
{
    VP_CLEANUP(vp_buf_free) vp_buf line;
    vp_buf_init(&line, LINE_MAX_BYTES);
    access_log_format(&line, e, log->json, log->secret);
    pthread_mutex_lock(&log->lock);
    bool fits = !line.status && log->waiting.n + line.n <= WAITING_MAX;
    if (!fits || vp_buf_put(&log->waiting, line.p, line.n) < 0)
        log->dropped++;
    pthread_cond_signal(&log->some);
    pthread_mutex_unlock(&log->lock);
}

void access_log_close(access_log *log)
{
    if (!log)
        return;
    pthread_mutex_lock(&log->lock);
    atomic_store(&log->stop, true);
    pthread_cond_signal(&log->some);
    pthread_mutex_unlock(&log->lock);
    pthread_join(log->thread, NULL);
    pthread_mutex_destroy(&log->lock);
    pthread_cond_destroy(&log->some);
    vp_buf_free(&log->waiting);
    vp_fs_close(&log->fd);
    vp_free(log->secret);
    vp_free(log);
}
