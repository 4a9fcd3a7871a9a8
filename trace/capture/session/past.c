/* vp_capture_past: makes the past of an active recording a separate session, which is written like
 * one that has ended. */
#include <unistd.h>

#include "trace/base/mem.h"
#include "trace/capture/pool/clock.h"
#include "trace/capture/session/past_copy.h"
#include "trace/capture/session/session_end.h"
#include "trace/capture/threads/own_time.h"

/* The caller holds the lock. */
static int begin_past_session(cap_session **out, const vp_recording *handle, double seconds)
{
    cap_session *from = session_find(handle), *s = NULL;
    if (!from || from->state != CAP_ACTIVE || from->pid != getpid())
        return vp_fail(from && from->pid != getpid() ? VP_EFORKED : VP_EINACTIVE,
                       "this recording is not active");
    struct cap_past *p = vp_calloc(1, sizeof *p);
    if (!p)
        return vp_fail(VP_ENOMEM, "out of memory: a copy of the recorded past");
    int rc = session_derive(&s, &from->cfg);
    if (rc < 0) {
        vp_free(p);
        return rc;
    }
    *p = (struct cap_past){.from = from, .seconds = seconds};
    clock_pair(&p->until, 64);
    s->past = p;
    from->readers++;
    *out = s;
    return 0;
}

static int start_past(vp_recording **out, const vp_recording *handle, double seconds, bool here)
{
    cap_session *s = NULL;
    own_time_begin();
    session_lock();
    int rc = begin_past_session(&s, handle, seconds);
    if (s) {
        *out = session_handle(s->number);
        session_write(s, here);
    }
    session_unlock();
    own_time_end();
    return rc;
}

int vp_capture_past(vp_recording *handle, double seconds, vp_result *result)
{
    vp_result r = VP_RESULT_INIT;
    vp_recording *past = NULL;
    VP_TRY(cap_check_result(result));
    VP_TRY(start_past(&past, handle, seconds, true));
    int rc = vp_wait(past, &r);
    if (rc == 0 && result)
        *result = r;
    return rc;
}

int cap_past_start(vp_recording **out, const vp_recording *handle, double seconds)
{
    return start_past(out, handle, seconds, false);
}
