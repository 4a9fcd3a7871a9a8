/* Logs why a due step was not captured, at a limited rate. */
#include <stdarg.h>
#include <stdio.h>

#include "trace/base/err.h"
#include "trace/base/time.h"
#include "trace/capture/plan/profiler.h"

#define REST_NS (INT64_C(60) * 1000000000)

bool prof_may_say(vp_profiler *p, prof_miss cause)
{
    int64_t now = vp_now_ns();
    pthread_mutex_lock(&p->lock);
    bool may = now >= p->missed_ns[cause];
    if (may) /* a limit stays reached, so it is logged once */
        p->missed_ns[cause] = cause == MISS_LIMIT ? INT64_MAX : now + REST_NS;
    pthread_mutex_unlock(&p->lock);
    return may;
}

void prof_say_missed(vp_profiler *p, prof_miss cause, uint64_t step, const char *fmt, ...)
{
    char why[900];
    va_list ap;
    if (!prof_may_say(p, cause))
        return;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    cap_log(&p->s.recording, cause == MISS_LIMIT ? VP_SAY_INFO : VP_SAY_WARNING,
            "Step %llu was not captured: %s", (unsigned long long)step, why);
}

void prof_say_in_use(vp_profiler *p, uint64_t step)
{
    prof_say_missed(p, MISS_IN_USE, step, "%s: %s", vp_error_last()->message,
                    vp_error_last()->path);
}

void prof_say_limit(vp_profiler *p, uint64_t step)
{
    prof_say_missed(p, MISS_LIMIT, step, "max_profile_count (%llu) is reached",
                    (unsigned long long)p->s.max_profile_count);
}
