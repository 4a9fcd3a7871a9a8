/* What the other parts of this room ask of the recorder: zones by the number of a name, and the
 * recording that is on, whoever started it. */
#include <unistd.h>

#include "trace/base/time.h"
#include "trace/capture/emit.h"
#include "trace/capture/own_time.h"
#include "trace/capture/recording_thread.h"
#include "trace/capture/session.h"

vp__step_fn *vp__steps;

uint32_t cap_generation(void)
{
    return vp__generation();
}

void cap_zone(uint32_t name, uint64_t start, uint32_t generation, bool is_step, uint64_t number)
{
    if (generation)
        cap_emit(generation, &(cap_event){.site = vp__site_of(name),
                                          .kind = is_step ? VP__STEP : VP__ZONE,
                                          .start = start,
                                          .end = vp__ticks(generation),
                                          .has_number = is_step,
                                          .number = number});
}

void cap_instant(uint32_t name, const vp_arg *args, size_t n)
{
    vp__site *keys[CAP_ARGS_MAX];
    uint32_t generation = vp__generation();
    uint64_t now = generation ? vp__ticks(generation) : 0;
    if (generation)
        cap_emit(generation, &(cap_event){.site = vp__site_of(name),
                                          .kind = VP__INSTANT,
                                          .start = now,
                                          .end = now,
                                          .args = args,
                                          .arg_count = cap_keys_of(keys, args, args ? n : 0),
                                          .keys = keys});
}

#define LISTENERS (CAP_STEPS_PROFILERS + 1u)

static cap_step_fn *listeners[LISTENERS];

static void tell(unsigned who, bool begin, uint64_t number)
{
    cap_step_fn *fn = __atomic_load_n(&listeners[who], __ATOMIC_ACQUIRE);
    if (fn)
        fn(begin, number);
}

static void tell_all(bool begin, uint64_t number)
{
    for (unsigned i = 0; i < LISTENERS; i++)
        tell(begin ? i : LISTENERS - 1 - i, begin, number);
}

/* Who has listened once stays in the way: that costs a step two loads. */
void cap_on_step(cap_step_listener who, cap_step_fn *fn)
{
    __atomic_store_n(&listeners[who], fn, __ATOMIC_RELEASE);
    __atomic_store_n(&vp__steps, tell_all, __ATOMIC_RELEASE);
}

void cap_tell_control_step(bool begin, uint64_t number)
{
    tell(CAP_STEPS_CONTROL, begin, number);
}

void cap_tell_step(bool begin, uint64_t number)
{
    vp__step_fn *told = __atomic_load_n(&vp__steps, __ATOMIC_ACQUIRE);
    if (told)
        told(begin, number);
}

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
    return vp_fail(VP_EINACTIVE, "nothing is being recorded");
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
    const cap_session *s = session_recording();
    cap_kind kind = !s ? CAP_KIND_NONE : s->standby ? CAP_KIND_STANDBY : CAP_KIND_RECORDING;
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
    bool done = s && s->state == CAP_DONE; /* before that its writer alone looks inside */
    int rc = done ? s->status : s ? vp_fail(VP_EBUSY, "it is not written yet") : nothing_on();
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
        rc = vp_fail(VP_EINACTIVE, "this recording has ended already");
    else if (s->pid != getpid())
        rc = vp_fail(VP_EFORKED, "the recording belongs to the parent process");
    else if (s->ended_itself)
        rc = vp_fail(VP_EINACTIVE, "this recording has ended and is written already");
    else
        session_discard(s);
    session_unlock();
    own_time_end();
    return rc;
}
