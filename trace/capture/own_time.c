#include "trace/capture/own_time.h"

#include "trace/base/time.h"

static __thread struct {
    unsigned depth;
    int64_t since; /* not counted yet, while depth > 0 */
    int64_t total, paused;
} own;

void own_time_begin(void)
{
    if (own.depth++ == 0)
        own.since = vp_now_ns();
}

void own_time_end(void)
{
    if (--own.depth == 0)
        own.total += vp_now_ns() - own.since;
}

void own_time_pause(void)
{
    own.paused = vp_now_ns();
}

void own_time_resume(void)
{
    own.since += vp_now_ns() - own.paused;
}

int64_t own_time_ns(void)
{
    return own.total;
}
