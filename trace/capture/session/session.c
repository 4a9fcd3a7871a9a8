#include "trace/capture/session/session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/mem.h"
#include "trace/base/thread.h"
#include "trace/capture/disk/small_files.h"

#define KEPT_MAX 64u /* number of kept results that were never awaited */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_once_t before_waits = PTHREAD_ONCE_INIT;
static cap_session *sessions; /* newest first */
static uint64_t numbers;
unsigned cap_callback_ms = 10000;

void session_lock(void)
{
    pthread_mutex_lock(&lock);
}

void session_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* No thread waits before this call, so the condition may be initialized again.
 * (pthread_cond_clockwait, which does not need this, is available only from C library 2.30 on.) */
static void use_steady_clock(void)
{
    vp_cond_init(&changed);
}

void session_wait(void)
{
    pthread_once(&before_waits, use_steady_clock);
    pthread_cond_wait(&changed, &lock);
}

bool session_wait_until(const struct timespec *until)
{
    pthread_once(&before_waits, use_steady_clock);
    return pthread_cond_timedwait(&changed, &lock, until) != ETIMEDOUT;
}

void session_changed(void)
{
    pthread_cond_broadcast(&changed);
}

bool session_writing(bool with_callbacks)
{
    for (const cap_session *s = sessions; s; s = s->next)
        if ((s->state == CAP_ENDING || s->state == CAP_WRITING) &&
            (with_callbacks || !s->in_callback))
            return true;
    return false;
}

vp_recording *session_handle(uint64_t number)
{
    return (vp_recording *)(uintptr_t)number;
}

cap_session *session_find(const vp_recording *r)
{
    cap_session *s = sessions;
    while (s && s->number != (uint64_t)(uintptr_t)r)
        s = s->next;
    return s;
}

void cap_log(const vp_config *cfg, int level, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    if (!cfg->log)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    cfg->log(cfg->ctx, level, text);
}

void session_release(cap_session *s)
{
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    s->lock_fd = -1;
}

void session_forget(cap_session *s)
{
    for (cap_session **at = &sessions; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    pool_close(&s->pool);
    session_release(s);
    run_dir_close(&s->run);
    vp_free(s->dir);
    vp_free(s->host);
    vp_free(s->past);
    vp_free(s);
}

int session_new(cap_session **out, const vp_config *cfg)
{
    char full[VP_PATH_MAX];
    cap_session *s = vp_calloc(1, sizeof *s);
    if (!s)
        return vp_fail(VP_ENOMEM, "out of memory: a recording");
    s->run.fd = s->lock_fd = -1;
    s->cfg = *cfg;
    s->dir = vp_strdup(cap_full_dir(full, cfg->dir && *cfg->dir ? cfg->dir : "profiles"));
    s->host = vp_strdup(cfg->host ? cfg->host : "");
    s->pid = getpid();
    job_read(&s->job, NULL);
    s->result.version = 1;
    if (!s->dir || !s->host) {
        session_forget(s);
        return vp_fail(VP_ENOMEM, "out of memory: a recording");
    }
    s->cfg.dir = s->dir;
    s->cfg.host = s->host;
    if (!(cfg->outputs & ~(unsigned)VP_OUT_RAW))
        s->cfg.outputs |= VP_OUT_XPLANE | VP_OUT_TRACE_JSON;
    s->cfg.level = cfg->level ? cfg->level : VP_LEVEL_INFO;
    *out = s;
    return 0;
}

void session_enlist(cap_session *s)
{
    s->number = (++numbers) << 4;
    s->next = sessions;
    sessions = s;
}

int session_derive(cap_session **out, const vp_config *cfg)
{
    cap_session *s;
    VP_TRY(session_new(&s, cfg));
    s->state = CAP_WRITING;
    s->settled = true;
    session_enlist(s);
    *out = s;
    return 0;
}

void session_drop_oldest(void)
{
    cap_session *oldest = NULL;
    unsigned n = 0;
    for (cap_session *s = sessions; s; s = s->next)
        if (s->state == CAP_DONE && !s->waiters) {
            oldest = s;
            n++;
        }
    if (n > KEPT_MAX)
        session_forget(oldest);
}

void session_abandon_all(void)
{
    vp_cond_init(&changed); /* waiting threads exist only in the parent */
    for (cap_session *s = sessions; s; s = s->next) {
        grow_close(&s->pool.grow);
        s->pool = (cap_pool){.image = NULL}; /* the child does not have the mapping */
        session_release(s);                  /* the parent keeps the lock */
        s->readers = s->waiters = 0;
        s->telling = false;
        s->state = CAP_DONE;
    }
}
