/* Notifies control and the profilers of every step of the program. */
#include "trace/capture/pool/recorder.h"

vp__step_fn *vp__steps;

#define LISTENERS (CAP_STEPS_PROFILERS + 1u)

static cap_step_fn *listeners[LISTENERS];

static void tell_step_listener(unsigned who, bool begin, uint64_t number)
{
    cap_step_fn *fn = __atomic_load_n(&listeners[who], __ATOMIC_ACQUIRE);
    if (fn)
        fn(begin, number);
}

static void tell_step_listeners(bool begin, uint64_t number)
{
    for (unsigned i = 0; i < LISTENERS; i++)
        tell_step_listener(begin ? i : LISTENERS - 1 - i, begin, number);
}

/* tell_step_listeners stays installed after the first listener; it then costs a step two loads. */
void cap_on_step(cap_step_listener who, cap_step_fn *fn)
{
    __atomic_store_n(&listeners[who], fn, __ATOMIC_RELEASE);
    __atomic_store_n(&vp__steps, tell_step_listeners, __ATOMIC_RELEASE);
}

void cap_tell_control_step(bool begin, uint64_t number)
{
    tell_step_listener(CAP_STEPS_CONTROL, begin, number);
}

void cap_tell_step(bool begin, uint64_t number)
{
    vp__step_fn *told = __atomic_load_n(&vp__steps, __ATOMIC_ACQUIRE);
    if (told)
        told(begin, number);
}
