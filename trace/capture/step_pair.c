/* A step in two parts: what VP_STEP keeps in its scope is kept by the thread here. */
#include "trace/base/err.h"
#include "trace/capture/recorder.h"

static VP__TLS cap_begun own;
static VP__TLS bool is_open;
static VP__TLS uint64_t own_number;

int vp_step_begin(const char *name, uint64_t number)
{
    if (!name || !*name)
        return vp_fail(VP_EARG, "a step needs a name");
    if (is_open)
        return vp_fail(VP_EBUSY, "this thread is in step %llu still",
                       (unsigned long long)own_number);
    cap_tell_step(true, number); /* which may start a recording */
    is_open = true;
    own_number = number;
    own = (cap_begun){.generation = 0};
    if (cap_generation())
        cap_begin(&own, vp_name(name), true, number);
    return 0;
}

int vp_step_end(void)
{
    if (!is_open)
        return vp_fail(VP_EARG, "vp_step_end without vp_step_begin");
    is_open = false;
    cap_end(&own);
    cap_tell_step(false, own_number);
    return 0;
}
