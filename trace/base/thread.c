#include "trace/base/thread.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace/base/mem.h"
#include "trace/base/mem_available.h"

/* Maximum for vp_each. */
#define THREADS_MAX 16

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
    int64_t allowed = vp_cpu_limit("");
    if (allowed > 0 && allowed < n)
        n = (long)allowed;
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

void vp_aside_wait(vp_aside *a)
{
    if (a->running)
        pthread_join(a->thread, NULL);
    a->running = false;
}

int vp_aside_join(vp_aside *a, int rc)
{
    vp_aside_wait(a);
    if (rc < 0)
        return rc;
    return a->status < 0 ? vp_fail_copy(&a->error) : a->status;
}

typedef struct each {
    int (*fn)(void *ctx, uint32_t i);
    void *ctx;
    uint32_t n;
    vp_mem_budget *budget;
    _Atomic uint32_t begun;
    _Atomic bool failed;
} each;

static int each_thread(void *ctx)
{
    each *e = ctx;
    vp_mem_budget *before = vp_mem_enter(e->budget);
    int rc = 0;
    for (uint32_t i; rc >= 0 && !atomic_load(&e->failed);) {
        if ((i = atomic_fetch_add(&e->begun, 1)) >= e->n)
            break;
        rc = e->fn(e->ctx, i);
    }
    if (rc < 0)
        atomic_store(&e->failed, true);
    vp_mem_enter(before);
    return rc < 0 ? rc : 0;
}

int vp_each(int threads, uint32_t n, int (*fn)(void *ctx, uint32_t i), void *ctx)
{
    each e = {.fn = fn, .ctx = ctx, .n = n, .budget = vp_mem_enter(NULL)};
    vp_aside aside[THREADS_MAX] = {0};
    vp_mem_enter(e.budget);
    threads = threads < THREADS_MAX ? threads : THREADS_MAX;
    for (int i = 1; i < threads && (uint32_t)i < n; i++)
        if (vp_aside_try(&aside[i], each_thread, &e) < 0)
            break;
    int rc = each_thread(&e);
    for (int i = 1; i < threads; i++)
        rc = vp_aside_join(&aside[i], rc);
    return rc;
}

pid_t vp_thread_number(void)
{
    return (pid_t)syscall(SYS_gettid);
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
