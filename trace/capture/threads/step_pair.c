/* vp_step_begin and vp_step_end: the state that VP_STEP keeps in its scope is stored per thread
 * here. */
#include "trace/base/err.h"
#include "trace/capture/pool/recorder.h"
#include "trace/capture/threads/recording_thread.h"

int vp_step_begin(const char *name, uint64_t number)
{
    if (!name || !*name)
        return vp_fail(VP_EARG, "a step needs a name");
    cap_own *own = cap_own_now();
    if (!own)
        return vp_fail(VP_ELIMIT, "too many threads have steps");
    if (own->in_step)
        return vp_fail(VP_EBUSY, "this thread is still in step %llu",
                       (unsigned long long)own->step_number);
    cap_tell_step(true, number); /* a recording may start here */
    own->in_step = true;
    own->step_number = number;
    own->step = (cap_begun){.generation = 0};
    if (cap_generation())
        cap_begin(&own->step, vp_name(name), true, number);
    return 0;
}

int vp_step_end(void)
{
    cap_own *own = cap_own_now();
    if (!own || !own->in_step)
        return vp_fail(VP_EARG, "vp_step_end without vp_step_begin");
    own->in_step = false;
    cap_end(&own->step);
    cap_tell_step(false, own->step_number);
    return 0;
}
