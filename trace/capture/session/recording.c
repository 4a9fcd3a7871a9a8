/* Public functions of a recording: start, stop, wait, and its state. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/mem.h"
#include "trace/base/thread.h"
#include "trace/capture/session/process.h"
#include "trace/capture/session/session_begin.h"
#include "trace/capture/session/session_end.h"
#include "trace/capture/session/session_switch.h"
#include "trace/capture/threads/own_time.h"

static int fail_inactive(void)
{
    return vp_fail(VP_EINACTIVE, "this recording has already ended");
}

static int own_callback(void)
{
    return vp_fail(VP_EBUSY, "its own callback must not wait for its end");
}

static void copy_result(vp_result *out, const cap_session *s)
{
    if (out)
        *out = s->result;
}

int cap_check_config(const vp_config *cfg)
{
    return vp_check_version(cfg->version, 1, "vp_config", "VP_CONFIG_INIT");
}

int cap_check_result(const vp_result *result)
{
    return result ? vp_check_version(result->version, 1, "vp_result", "VP_RESULT_INIT") : 0;
}

static int check_start_config(const vp_config *cfg)
{
    VP_TRY(cap_check_config(cfg));
    if (cfg->mode != VP_KEEP_FIRST && cfg->mode != VP_RING)
        return vp_fail(VP_EARG, "invalid mode %d", (int)cfg->mode);
    if (cfg->gpu < VP_GPU_OFF || cfg->gpu > CAP_GPU_IF_USED)
        return vp_fail(VP_EARG, "invalid gpu mode %d", (int)cfg->gpu);
    if (cfg->outputs &
        ~(unsigned)(VP_OUT_XPLANE | VP_OUT_TRACE_JSON | VP_OUT_PERFETTO_JSON | VP_OUT_RAW))
        return vp_fail(VP_EARG, "invalid outputs: 0x%x", cfg->outputs);
    return 0;
}

typedef struct deadline {
    uint64_t number;
    struct timespec until;
} deadline;

/* The thread that ends a recording when its time is over, unless it was ended before. */
static void *end_in_time(void *ctx)
{
    deadline d = *(deadline *)ctx;
    bool over = false;
    vp_free(ctx);
    session_lock();
    for (;;) {
        cap_session *s = session_find(session_handle(d.number));
        if (!s || s->state != CAP_ACTIVE)
            break;
        if (!over) { /* waiting releases the lock, so check again */
            over = !session_wait_until(&d.until);
            continue;
        }
        s->ended_itself = true;
        session_end(s, CAP_CUT_IF_OPEN);
        session_write(s, true);
        break;
    }
    session_unlock();
    return NULL;
}

static int start_deadline(const vp_recording *r, unsigned duration_ms)
{
    pthread_t thread;
    deadline *d = vp_calloc(1, sizeof *d);
    if (!d)
        return vp_fail(VP_ENOMEM, "out of memory: a time limit");
    clock_gettime(CLOCK_MONOTONIC, &d->until);
    d->number = (uint64_t)(uintptr_t)r;
    d->until.tv_sec += duration_ms / 1000;
    d->until.tv_nsec += (long)(duration_ms % 1000) * 1000000;
    d->until.tv_sec += d->until.tv_nsec / 1000000000;
    d->until.tv_nsec %= 1000000000;
    int rc = vp_thread_start(&thread, end_in_time, d);
    if (rc < 0)
        vp_free(d);
    else
        pthread_detach(thread);
    return rc;
}

/* A session's notice, copied so that it can be logged without the lock. */
typedef struct notice {
    char text[sizeof((cap_session *)NULL)->notice];
    int level;
} notice;

static int begin_recording(vp_recording **out, notice *n, const vp_config *cfg, bool standby)
{
    cap_session *s = NULL;
    session_end_full();
    if (session_active())
        return vp_fail_at(vp_fail(VP_EBUSY, "Profiler already active"), session_active()->run.path,
                          -1, -1);
    VP_TRY(session_install());
    VP_TRY(session_begin(&s, cfg, NULL, standby));
    memcpy(n->text, s->notice, sizeof n->text);
    n->level = s->notice_level;
    *out = session_handle(s->number);
    return 0;
}

static int start_on(vp_recording **out, const vp_config *cfg, bool standby)
{
    static const vp_config defaults = VP_CONFIG_INIT;
    notice n;
    int rc;
    if (!out)
        return vp_fail(VP_EARG, "vp_start needs a pointer for the recording");
    cfg = cfg ? cfg : &defaults;
    VP_TRY(check_start_config(cfg));
    session_lock();
    rc = begin_recording(out, &n, cfg, standby);
    session_unlock();
    if (rc < 0)
        return rc;
    if (n.text[0])
        cap_log(cfg, n.level, "%s", n.text);
    if (cfg->duration_ms && start_deadline(*out, cfg->duration_ms) < 0)
        cap_log(cfg, VP_SAY_WARNING, "No time limit: %s", vp_error_last()->message);
    return 0;
}

static int start_recording(vp_recording **out, const vp_config *cfg, bool standby)
{
    own_time_begin();
    int rc = start_on(out, cfg, standby);
    own_time_end();
    return rc;
}

int cap_start(vp_recording **out, const vp_config *cfg)
{
    return start_recording(out, cfg, false);
}

int vp_start(vp_recording **out, const vp_config *cfg)
{
    if (cfg && cfg->version == 1 && cfg->gpu == CAP_GPU_IF_USED)
        return vp_fail(VP_EARG, "invalid gpu mode %d", (int)cfg->gpu);
    return cap_start(out, cfg);
}

int vp_trace(vp_recording **out, const char *dir)
{
    vp_config cfg = VP_CONFIG_INIT;
    if (!dir || !*dir)
        return vp_fail(VP_EARG, "vp_trace needs a directory");
    cfg.dir = dir;
    return vp_start(out, &cfg);
}

int cap_start_standby(vp_recording **out, const vp_config *cfg)
{
    return start_recording(out, cfg, true);
}

/* Returns the result of a written session, and frees it. */
static int collect_result(cap_session *s, vp_result *result)
{
    if (session_calls_here(s))
        return own_callback();
    s->waiters++;
    while (s->state != CAP_DONE)
        session_wait();
    s->waiters--;
    int rc = s->status;
    copy_result(result, s);
    if (rc < 0)
        vp_fail_copy(&s->error);
    if (!s->waiters)
        session_forget(s);
    return rc;
}

/* The session of a handle, if this process may end it. */
static int own_session_of(cap_session **out, const vp_recording *r)
{
    cap_session *s = session_find(r);
    if (!s)
        return fail_inactive();
    if (s->pid != getpid())
        return vp_fail(VP_EFORKED, "the recording belongs to the parent process");
    *out = s;
    return 0;
}

static int stop_recording(vp_recording *r, vp_result *result, cap_cut cut)
{
    cap_session *s = NULL;
    int rc = own_session_of(&s, r);
    if (!s)
        return rc;
    if (s->ended_itself)
        return collect_result(s, result);
    if (s->state != CAP_ACTIVE)
        return fail_inactive();
    if (session_calls_here(s))
        return own_callback();
    session_end(s, cut);
    if (s->cfg.export_now) {
        session_write(s, true);
        return collect_result(s, result);
    }
    copy_result(result, s);
    session_write(s, false);
    return 0;
}

int vp_stop(vp_recording *r, vp_result *result)
{
    int rc;
    VP_TRY(cap_check_result(result));
    own_time_begin();
    session_lock();
    rc = stop_recording(r, result, CAP_WHOLE);
    session_unlock();
    own_time_end();
    return rc;
}

int cap_stop_early(vp_recording *r, vp_result *result, bool surely_cut)
{
    int rc;
    own_time_begin();
    session_lock();
    rc = stop_recording(r, result, surely_cut ? CAP_CUT : CAP_CUT_IF_OPEN);
    session_unlock();
    own_time_end();
    return rc;
}

static int wait_for_recording(vp_recording *r, vp_result *result)
{
    cap_session *s = NULL;
    int rc = own_session_of(&s, r);
    if (!s)
        return rc;
    if (session_is_full(s))
        session_end_full();
    if (s->state == CAP_ACTIVE && !s->cfg.duration_ms)
        return vp_fail_at(vp_fail(VP_EBUSY, "the recording is still active; stop it with vp_stop"),
                          s->run.path, -1, -1);
    return collect_result(s, result);
}

int vp_wait(vp_recording *r, vp_result *result)
{
    int rc;
    VP_TRY(cap_check_result(result));
    own_time_begin();
    session_lock();
    rc = wait_for_recording(r, result);
    session_unlock();
    own_time_end();
    return rc;
}

bool cap_is_written(const vp_recording *r)
{
    session_lock();
    const cap_session *s = session_find(r);
    bool written = !s || s->state == CAP_DONE;
    session_unlock();
    return written;
}

bool vp_recording_active(const vp_recording *r)
{
    session_lock();
    const cap_session *s = session_find(r);
    bool on = s && s == session_active() && s->pid == getpid() && !session_is_full(s);
    session_unlock();
    return on;
}

bool cap_has_ended(const vp_recording *r)
{
    session_lock();
    const cap_session *s = session_find(r);
    if (s && session_is_full(s))
        session_end_full();
    bool on = (s = session_find(r)) && s->state == CAP_ACTIVE && s->pid == getpid();
    session_unlock();
    return !on;
}

const char *vp_recording_dir(const vp_recording *r)
{
    session_lock();
    cap_session *s = session_find(r);
    const char *path = s ? s->run.path : NULL;
    session_unlock();
    return path;
}

vp_recording *vp__profile_begin(const char *dir)
{
    vp_config cfg = VP_CONFIG_INIT;
    vp_recording *r = NULL;
    cfg.dir = dir;
    return vp_start(&r, &cfg) < 0 ? NULL : r;
}

void vp__profile_end(vp_recording **r)
{
    if (*r)
        vp_stop(*r, NULL);
}
