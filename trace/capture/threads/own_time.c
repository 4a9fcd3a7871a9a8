#include "trace/capture/threads/own_time.h"

#include "trace/base/time.h"
#include "trace/capture/threads/recording_thread.h"

void own_time_begin(void)
{
    cap_own *own = cap_own_now();
    if (own && own->depth++ == 0)
        own->since = vp_now_ns();
}

/* In a forked child this may end what the parent began. */
void own_time_end(void)
{
    cap_own *own = cap_own_now();
    if (own && own->depth && --own->depth == 0)
        own->total += vp_now_ns() - own->since;
}

void own_time_pause(void)
{
    cap_own *own = cap_own_now();
    if (own)
        own->paused = vp_now_ns();
}

void own_time_resume(void)
{
    cap_own *own = cap_own_now();
    if (own)
        own->since += vp_now_ns() - own->paused;
}

int64_t own_time_ns(void)
{
    const cap_own *own = cap_own_now();
    return own ? own->total : 0;
}
