/* Loops whose cost is that of their bodies, in CPU time of the thread. Used by the benchmarks of
 * recording. */
#ifndef VP_TESTS_BENCH_CAPTURE_LOOPS_H
#define VP_TESTS_BENCH_CAPTURE_LOOPS_H

#include <stdint.h>
#include <time.h>

#include "include/view_profile_capture.h"

typedef void loop_fn(uint32_t n);

static inline int64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The compiler may neither remove nor move it. */
static inline void keep(uint64_t v)
{
    __asm__ volatile("" : : "r"(v) : "memory");
}

/* The lower bound of any measured duration. */
static inline void two_clock_reads(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t a = vp__ticks(1);
        keep(i);
        keep(vp__ticks(1) - a);
    }
}

/* ns of one turn. */
static inline double time_loop(loop_fn *fn, uint32_t n)
{
    int64_t begin = cpu_ns();
    fn(n);
    return (double)(cpu_ns() - begin) / n;
}

#endif
