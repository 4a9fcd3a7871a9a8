/* The active recording, regardless of who started it, and functions for other modules of the
 * recorder, in addition to the public ones (recording.c). */
#include <unistd.h>

#include "trace/base/time.h"
#include "trace/capture/session/session_end.h"
#include "trace/capture/session/session_switch.h"
#include "trace/capture/threads/own_time.h"
#include "trace/capture/threads/recording_thread.h"

static vp_recording *active_handle(void)
{
    session_lock();
    cap_session *s = session_recording();
    vp_recording *r = s ? session_handle(s->number) : NULL;
    session_unlock();
    return r;
}

static int nothing_on(void)
{
    return vp_fail(VP_EINACTIVE, "no recording is active");
}

int cap_active_past(double seconds, vp_result *result)
{
    vp_recording *r = active_handle();
    return r ? vp_capture_past(r, seconds, result) : nothing_on();
}

int cap_active_status(vp_result *result)
{
    session_lock();
    session_end_full();
    cap_session *s = session_recording();
    if (!s) {
        session_unlock();
        return nothing_on();
    }
    *result = s->result;
    session_count(result, &cap_pool_now);
    result->duration_ns = vp_now_ns() - s->pool.head->start.mono_ns;
    session_unlock();
    return 0;
}

cap_kind cap_active_kind(void)
{
    session_lock();
    session_end_full();
    const cap_session *s = session_active();
    cap_kind kind = !s                       ? CAP_KIND_NONE
                    : s->state != CAP_ACTIVE ? CAP_KIND_ENDING
                    : s->standby             ? CAP_KIND_STANDBY
                                             : CAP_KIND_RECORDING;
    session_unlock();
    return kind;
}

void cap_await(const vp_recording *r)
{
    const cap_session *s;
    session_lock();
    while ((s = session_find(r)) && s->state != CAP_DONE && !session_calls_here(s))
        session_wait();
    session_unlock();
}

int cap_peek(const vp_recording *r, vp_result *result)
{
    session_lock();
    const cap_session *s = session_find(r);
    bool done = s && s->state == CAP_DONE; /* until then only its writer may access it */
    int rc = done ? s->status : s ? vp_fail(VP_EBUSY, "it has not been written yet") : nothing_on();
    if (done && rc < 0)
        vp_fail_copy(&s->error);
    else if (done)
        *result = s->result;
    session_unlock();
    return rc;
}

bool cap_lacks_gpu(int rc, const vp_config *cfg)
{
    return rc == VP_EGPU_UNAVAILABLE || rc == VP_EGPU_BUSY ||
           (rc == VP_EPERM && cfg->gpu != VP_GPU_OFF);
}

int cap_active_end(vp_result *result)
{
    session_lock();
    cap_session *s = session_recording();
    if (!s || s->standby) {
        session_unlock();
        return nothing_on();
    }
    s->ended_itself = true;
    s->waiters++;
    session_end(s, CAP_CUT_IF_OPEN);
    session_write(s, true);
    *result = s->result;
    int rc = s->status;
    if (rc < 0)
        vp_fail_copy(&s->error);
    s->waiters--;
    session_changed();
    session_unlock();
    return rc;
}

int cap_discard(vp_recording *r)
{
    int rc = 0;
    own_time_begin();
    session_lock();
    cap_session *s = session_find(r);
    if (!s || (s->state != CAP_ACTIVE && !s->ended_itself))
        rc = vp_fail(VP_EINACTIVE, "this recording has already ended");
    else if (s->pid != getpid())
        rc = vp_fail(VP_EFORKED, "the recording belongs to the parent process");
    else if (s->ended_itself)
        rc = vp_fail(VP_EINACTIVE, "this recording has already ended and been written");
    else
        session_discard(s);
    session_unlock();
    own_time_end();
    return rc;
}
