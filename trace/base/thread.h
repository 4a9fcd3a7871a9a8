/* Threads of a library in somebody else's process: they leave signals to the application's
 * threads; and work that is done aside while its starter goes on. Everyone may include this
 * header; the caller owns what it starts and joins it. */
#ifndef VP_BASE_THREAD_H
#define VP_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "trace/base/err.h"

/* Blocks all signals in the calling thread, and so in threads that it starts, except those that a
 * thread raises by its own fault, which must reach whoever reports crashes. */
void vp_thread_mask(sigset_t *before);
/* Processors that this process may use at once, at least 1: those that its affinity allows and its
 * control groups pay for. */
int vp_cpus(void);
/* The kernel's number of this thread; the C library has the call from 2.30 on only. */
pid_t vp_thread_number(void);
/* Starts a thread so masked. 0 or VP_EIO. */
int vp_thread_start(pthread_t *out, void *(*run)(void *), void *arg);

/* Makes a condition whose timed waits do not change when somebody sets the clock (CLOCK_MONOTONIC);
 * and the time until which such a wait lasts. */
void vp_cond_init(pthread_cond_t *c);
struct timespec vp_cond_until(int64_t ms);

/* One call of a function on a thread of its own. */
typedef struct vp_aside {
    int (*fn)(void *ctx);
    void *ctx;
    pthread_t thread;
    bool running;
    int status;
    vp_error error;
} vp_aside;

/* Starts fn(ctx); where no thread is to be had, calls it here and now. */
void vp_aside_start(vp_aside *a, int (*fn)(void *ctx), void *ctx);
/* The same, but where no thread is to be had it fails and calls nothing. VP_EIO. */
int vp_aside_try(vp_aside *a, int (*fn)(void *ctx), void *ctx);
/* Waits for the end of it and returns what fn returned, with its error; but rc, and the caller's
 * own error, where rc is a failure: the first thing that failed is the one to tell. Called again,
 * it returns the same at once; of one that was never started (all zero), 0. */
int vp_aside_join(vp_aside *a, int rc);
/* Waits for the end of it, whatever it was; leaves the caller's error as it is. */
void vp_aside_wait(vp_aside *a);

/* Calls fn(ctx, i) for each i below n, several at once on up to `threads` threads with this one,
 * each within the caller's memory budget. One that fails lets no other begin; its code and error
 * are returned. */
int vp_each(int threads, uint32_t n, int (*fn)(void *ctx, uint32_t i), void *ctx);

#endif
