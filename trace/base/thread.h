/* Threads of a library inside another program, and work on a helper thread. The threads block
 * signals, which belong to the application's threads. The caller owns what it starts and joins it.
 * If no thread can be created, calls return VP_EIO or run the work inline, as stated. */
#ifndef VP_BASE_THREAD_H
#define VP_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "trace/base/err.h"

/* Blocks all signals in the calling thread, and so in threads that it starts. Signals that a thread
 * raises by its own fault stay unblocked, because crash reporters need them. */
void vp_thread_mask(sigset_t *before);
/* Processors that this process may use at once, at least 1: the minimum of its CPU affinity and the
 * quota of its control groups. */
int vp_cpus(void);
/* The kernel's id of this thread (gettid; the C library has the call only from 2.30 on). */
pid_t vp_thread_number(void);
/* Starts a thread with blocked signals. 0 or VP_EIO. */
int vp_thread_start(pthread_t *out, void *(*run)(void *), void *arg);

/* A condition variable on CLOCK_MONOTONIC, which changes of the wall clock don't affect; and the
 * deadline of a wait of `ms` milliseconds. */
void vp_cond_init(pthread_cond_t *c);
struct timespec vp_cond_until(int64_t ms);

/* One function call on a thread of its own. */
typedef struct vp_aside {
    int (*fn)(void *ctx);
    void *ctx;
    pthread_t thread;
    bool running;
    int status;
    vp_error error;
} vp_aside;

/* Starts fn(ctx); if no thread can be created, runs it before returning. */
void vp_aside_start(vp_aside *a, int (*fn)(void *ctx), void *ctx);
/* The same, but fails with VP_EIO if no thread can be created, and calls nothing. */
int vp_aside_try(vp_aside *a, int (*fn)(void *ctx), void *ctx);
/* Waits for the end and returns the result of fn, with its error. If rc is a failure, returns rc
 * and keeps the caller's error, because the first failure is the one to report. Further calls
 * return the same at once. For a vp_aside that was never started (all zero) it returns 0. */
int vp_aside_join(vp_aside *a, int rc);
/* Waits for the end and ignores the result; the caller's error stays. */
void vp_aside_wait(vp_aside *a);

/* Calls fn(ctx, i) for each i below n, on up to `threads` threads including this one, all charged
 * to the caller's memory budget. After a failure no further call begins; its code and error are
 * returned. */
int vp_each(int threads, uint32_t n, int (*fn)(void *ctx, uint32_t i), void *ctx);

#endif
