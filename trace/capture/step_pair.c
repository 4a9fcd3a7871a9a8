/* A step in two parts: what VP_STEP keeps in its scope is kept by the thread here. */
#include "trace/base/err.h"
#include "trace/capture/recorder.h"

typedef struct open_step {
    bool is_open;
    uint32_t name, generation; /* generation 0: nothing recorded when it began */
    uint64_t start, number;
} open_step;

static VP__TLS open_step own;

int vp_step_begin(const char *name, uint64_t number)
{
    if (!name || !*name)
        return vp_fail(VP_EARG, "a step needs a name");
    if (own.is_open)
        return vp_fail(VP_EBUSY, "this thread is in step %llu still",
                       (unsigned long long)own.number);
    cap_tell_step(true, number); /* which may start a recording */
    own = (open_step){.is_open = true, .number = number, .generation = cap_generation()};
    if (own.generation)
        own.name = vp_name(name);
    own.start = vp_now();
    return 0;
}

int vp_step_end(void)
{
    if (!own.is_open)
        return vp_fail(VP_EARG, "vp_step_end without vp_step_begin");
    own.is_open = false;
    if (own.generation)
        cap_zone(own.name, own.start, own.generation, true, own.number);
    cap_tell_step(false, own.number);
    return 0;
}
