/* A recording while a signal comes 50,000 times a second. */
#ifndef VP_TESTS_UNIT_CAPTURE_SIGNALS_H
#define VP_TESTS_UNIT_CAPTURE_SIGNALS_H

#include <signal.h>
#include <time.h>

#include "tests/unit/capture_tools.h"

/* Calls `work` for a second, or until *done reaches 3,000,000. */
static inline void record_under_signals(vp_result *result, void (*handler)(int), void (*work)(void),
                                        const uint64_t *done)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
    struct sigevent by = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    struct itimerspec often = {{0, 20000}, {0, 20000}};
    timer_t timer;
    vp_config cfg = here_config();
    vp_recording *r;
    struct timespec until, now;
    cfg.in_memory = true;
    cfg.pool_bytes = (size_t)64 << 20;
    cap_writer = count_write;
    assert_int_equal(sigaction(SIGPROF, &action, &before), 0);
    assert_int_equal(vp_start(&r, &cfg), 0);
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &by, &timer), 0);
    assert_int_equal(timer_settime(timer, 0, &often, NULL), 0);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 1;
    do {
        work();
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec < until.tv_sec && *done < 3000000);
    assert_int_equal(timer_delete(timer), 0);
    assert_int_equal(vp_stop(r, result), 0);
    sigaction(SIGPROF, &before, NULL);
}

#endif
