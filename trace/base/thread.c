#include "trace/base/thread.h"

#include <sched.h>
#include <unistd.h>

void vp_thread_mask(sigset_t *before)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&set, faults[i]);
    pthread_sigmask(SIG_SETMASK, &set, before);
}

int vp_cpus(void)
{
    cpu_set_t set;
    long n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                         : sysconf(_SC_NPROCESSORS_ONLN);
    return n > 1 ? (int)n : 1;
}

int vp_thread_start(pthread_t *out, void *(*run)(void *), void *arg)
{
    sigset_t before;
    vp_thread_mask(&before);
    int rc = pthread_create(out, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc ? vp_fail(VP_EIO, "cannot start a thread") : 0;
}

static void *run_aside(void *ctx)
{
    vp_aside *a = ctx;
    a->status = a->fn(a->ctx);
    if (a->status < 0)
        a->error = *vp_error_last();
    return NULL;
}

int vp_aside_try(vp_aside *a, int (*fn)(void *ctx), void *ctx)
{
    *a = (vp_aside){.fn = fn, .ctx = ctx};
    VP_TRY(vp_thread_start(&a->thread, run_aside, a));
    a->running = true;
    return 0;
}

void vp_aside_start(vp_aside *a, int (*fn)(void *ctx), void *ctx)
{
    if (vp_aside_try(a, fn, ctx) < 0)
        run_aside(a);
}

int vp_aside_join(vp_aside *a)
{
    if (a->running)
        pthread_join(a->thread, NULL);
    a->running = false;
    return a->status < 0 ? vp_fail_copy(&a->error) : a->status;
}

void vp_cond_init(pthread_cond_t *c)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

struct timespec vp_cond_until(int64_t ms)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t ns = t.tv_nsec + ms % 1000 * 1000000;
    return (struct timespec){t.tv_sec + ms / 1000 + ns / 1000000000, ns % 1000000000};
}
