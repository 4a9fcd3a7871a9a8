/* All profilers of the process: messages at exit(), and steps that they did not mark themselves. */
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/capture/plan/profiler.h"
#include "trace/capture/threads/step_marks.h"

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT, exits_once = PTHREAD_ONCE_INIT;
static vp_profiler *all;

int prof_write_flops(vp_profiler *p)
{
    pthread_mutex_lock(&p->lock);
    int rc = flop_stats_write(&p->flops, &p->s, p->dir);
    atomic_store(&p->flops_due, 0);
    pthread_mutex_unlock(&p->lock);
    return rc;
}

void prof_say_no_flops(const vp_config *cfg)
{
    cap_log(cfg, VP_SAY_ERROR, "flop_stats.json: %s", vp_error_last()->message);
}

/* Recordings end by themselves at exit. A callback that calls exit() holds none of the locks. */
static void profilers_at_exit(void)
{
    vp_config failed = VP_CONFIG_INIT;
    pthread_mutex_lock(&all_lock);
    for (vp_profiler *p = all; p; p = p->next)
        if (atomic_load(&p->flops_due) == getpid() && !p->s.recording.no_atexit &&
            prof_write_flops(p) < 0)
            failed = p->s.recording;
    pthread_mutex_unlock(&all_lock);
    prof_say_no_flops(&failed);
}

void prof_say_still_on(const vp_config *cfg)
{
    cap_log(cfg, VP_SAY_WARNING, "Profiler still active on exit, stopping...");
}

/* At most one profiler of a process has an active capture. */
static void tell_exit(void)
{
    vp_config cfg = VP_CONFIG_INIT;
    pthread_mutex_lock(&all_lock);
    for (vp_profiler *p = all; p; p = p->next)
        if (atomic_load(&p->on) && atomic_load(&p->on_pid) == getpid() && cap_generation() &&
            !p->s.recording.no_atexit && !atomic_exchange(&p->exit_said, true))
            cfg = p->s.recording;
    pthread_mutex_unlock(&all_lock);
    prof_say_still_on(&cfg);
}

static void install_exits(void)
{
    atexit(tell_exit);
}

/* Call after a recording has started: handlers registered later with atexit run earlier. */
void prof_tell_exits(void)
{
    pthread_once(&exits_once, install_exits);
}

static void profilers_before_fork(void)
{
    pthread_mutex_lock(&all_lock);
}

static void profilers_after_fork(void)
{
    pthread_mutex_unlock(&all_lock);
}

static void profilers_install(void)
{
    if (pthread_atfork(profilers_before_fork, profilers_after_fork, profilers_after_fork) == 0)
        atexit(profilers_at_exit);
}

/* VP_STEP may run in a signal handler that interrupted the thread holding the lock. Its step is
 * then not counted. */
static bool lock_soon(pthread_mutex_t *m)
{
    for (int tries = 0; tries < 1000; tries++) {
        if (pthread_mutex_trylock(m) == 0)
            return true;
        sched_yield();
    }
    return false;
}

static void count_marked(vp_profiler *p, int64_t begin_ns, uint64_t ns)
{
    if (atomic_load(&p->in_step) || atomic_load(&p->step_seen_ns) >= begin_ns ||
        !lock_soon(&p->lock))
        return;
    step_stats_add_other(&p->steps, ns);
    p->last_ns = ns;
    pthread_mutex_unlock(&p->lock);
}

void prof_count_marked(vp_profiler *p, int64_t begin_ns, uint64_t ns)
{
    if (p) {
        count_marked(p, begin_ns, ns);
    } else if (lock_soon(&all_lock)) {
        for (p = all; p; p = p->next)
            count_marked(p, begin_ns, ns);
        pthread_mutex_unlock(&all_lock);
    }
}

static void hear_step(bool begin, uint64_t number)
{
    int64_t begin_ns;
    uint64_t ns;
    if (begin)
        step_mark_begin(number);
    else if (step_mark_end(number, &begin_ns, &ns))
        prof_count_marked(NULL, begin_ns, ns);
}

void prof_list_add(vp_profiler *p)
{
    pthread_once(&once, profilers_install);
    pthread_mutex_lock(&all_lock);
    p->next = all;
    all = p;
    cap_on_step(CAP_STEPS_PROFILERS, hear_step);
    pthread_mutex_unlock(&all_lock);
}

void prof_list_take(const vp_profiler *p)
{
    pthread_mutex_lock(&all_lock);
    vp_profiler **at = &all;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    if (!all)
        cap_on_step(CAP_STEPS_PROFILERS, NULL);
    pthread_mutex_unlock(&all_lock);
}
