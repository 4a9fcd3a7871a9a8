#include "server/watch/watcher.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "server/watch/watch_round.h"
#include "server/watch/watch_say.h"
#include "server/watch/watch_schedule.h"
#include "server/watch/watch_store.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"
#include "trace/base/time.h"

#define PARALLEL_MAX 64u
#define STATE_EVERY_MS 1000
#define LIST_EVERY_MS 30000

typedef struct watcher {
    const watch_options *o;
    watch_store store;
    watch_jobs jobs;
    watch_round rounds[PARALLEL_MAX];
    int64_t started[PARALLEL_MAX]; /* CLOCK_MONOTONIC, ms */
    size_t parallel;
    int signals;
    bool dirty, stopping, state_failed;
    int64_t written_ms, listed_ms;
} watcher;

/* ---- The state ------------------------------------------------------------------------------- */

static void write_state(watcher *w, int64_t now, int64_t pid)
{
    w->dirty = false;
    w->written_ms = now;
    int rc = watch_state_write(&w->store, w->o, &w->jobs, pid);
    if (rc < 0 && !w->state_failed)
        vp_log(VP_LOG_WARN, WATCH_STATE ": %s", vp_error_last()->message);
    w->state_failed = rc < 0;
}

/* ---- Jobs that are due ----------------------------------------------------------------------- */

static bool is_done(const watcher *w, const watch_job *j)
{
    return w->o->times && j->rounds >= w->o->times;
}

static bool is_job_waiting(const watcher *w, const watch_job *j)
{
    return !j->running && !j->unlisted_ms && !is_done(w, j);
}

static watch_job *most_due(const watcher *w)
{
    watch_job *best = NULL;
    for (size_t i = 0; i < w->jobs.n; i++) {
        watch_job *j = w->jobs.v[i];
        if (is_job_waiting(w, j) && (!best || j->due_ms < best->due_ms))
            best = j;
    }
    return best;
}

/* Removes the runs of a job that has been unlisted for as long as its ring covers. */
static void forget_old(watcher *w)
{
    int64_t now = watch_unix_ms(), reach;
    if (__builtin_mul_overflow(w->o->every_ms, w->o->keep, &reach))
        return;
    for (size_t i = w->jobs.n; i-- > 0;) {
        watch_job *j = w->jobs.v[i];
        if (j->running || !j->unlisted_ms || now - j->unlisted_ms < reach)
            continue;
        (void)watch_set(&j->baseline, NULL);
        if (watch_ring_trim(&w->store, j, 0) >= 0 && !j->run_count)
            watch_jobs_drop(&w->jobs, i);
        w->dirty = true;
    }
}

static int read_lists(watcher *w, int64_t now)
{
    w->listed_ms = now;
    VP_TRY(watch_jobs_read(&w->jobs, w->o));
    forget_old(w);
    return 0;
}

static void schedule_next_round(watcher *w, watch_job *j, int64_t started, int64_t now)
{
    watch_pace p = {.every_ms = w->o->every_ms,
                    .duration_ms = w->o->duration_ms,
                    .busy = j->status == WATCH_BUSY,
                    .in_a_row = j->in_a_row};
    uint32_t random = UINT32_C(0x80000000);
    (void)!getrandom(&random, sizeof random, GRND_NONBLOCK);
    j->due_ms = watch_due_ms(&p, random, started, now);
    j->next_ms = is_done(w, j) ? 0 : watch_unix_ms() + (j->due_ms - now);
    w->dirty = true;
}

static void continue_rounds(watcher *w, int64_t now)
{
    for (size_t i = 0; i < w->parallel; i++) {
        watch_job *j = w->rounds[i].job;
        if (j && watch_round_go_on(&w->rounds[i], now))
            schedule_next_round(w, j, w->started[i], now);
    }
}

static int start_due(watcher *w, int64_t now)
{
    for (size_t i = 0; i < w->parallel && !w->stopping; i++) {
        if (w->rounds[i].job)
            continue;
        const watch_job *due = most_due(w);
        bool is_due = due && due->due_ms <= now;
        if (now - w->listed_ms >= LIST_EVERY_MS || (is_due && w->listed_ms != now))
            VP_TRY(read_lists(w, now));
        watch_job *j = most_due(w);
        if (!j || j->due_ms > now)
            return 0;
        w->started[i] = now;
        watch_round_start(&w->rounds[i], j);
        if (!w->rounds[i].job) /* it could not be started */
            schedule_next_round(w, j, now, now);
    }
    return 0;
}

static bool is_running(const watcher *w)
{
    for (size_t i = 0; i < w->parallel; i++)
        if (w->rounds[i].job)
            return true;
    return false;
}

static bool is_over(const watcher *w)
{
    if (is_running(w))
        return false;
    return w->stopping || (w->o->times && !most_due(w));
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static void lower_wait_to(int64_t *wait, int64_t at, int64_t now)
{
    int64_t left = at > now ? at - now : 0;
    *wait = left < *wait ? left : *wait;
}

static int wait_ms(const watcher *w, int64_t now)
{
    int64_t wait = w->o->hosts_file ? LIST_EVERY_MS : INT_MAX;
    const watch_job *j = most_due(w);
    bool room = false;
    for (size_t i = 0; i < w->parallel; i++) {
        room = room || !w->rounds[i].job;
        if (w->rounds[i].job)
            lower_wait_to(&wait,
                          w->rounds[i].child.told ? now + 500 : w->rounds[i].child.term_at_ms, now);
    }
    if (j && room && !w->stopping)
        lower_wait_to(&wait, j->due_ms, now);
    if (w->dirty)
        lower_wait_to(&wait, w->written_ms + STATE_EVERY_MS, now);
    return wait > INT_MAX ? INT_MAX : (int)wait;
}

static void take_signals(watcher *w)
{
    struct signalfd_siginfo s;
    while (read(w->signals, &s, sizeof s) == (ssize_t)sizeof s) {
        if (s.ssi_signo == SIGCHLD)
            continue;
        w->stopping = true;
        for (size_t i = 0; i < w->parallel; i++)
            watch_round_stop(&w->rounds[i]);
    }
}

static void wait_for_something(watcher *w, int64_t now)
{
    struct pollfd fds[2 * PARALLEL_MAX + 1];
    nfds_t n = 0;
    fds[n++] = (struct pollfd){.fd = w->signals, .events = POLLIN};
    for (size_t i = 0; i < w->parallel; i++) {
        const watch_child *c = &w->rounds[i].child;
        if (!w->rounds[i].job)
            continue;
        fds[n++] = (struct pollfd){.fd = c->out, .events = POLLIN};
        fds[n++] = (struct pollfd){.fd = c->err, .events = POLLIN};
    }
    (void)poll(fds, n, wait_ms(w, now));
    take_signals(w);
}

static int watch_loop(watcher *w)
{
    while (!is_over(w)) {
        int64_t now = vp_now_ms();
        continue_rounds(w, now);
        VP_TRY(start_due(w, now));
        if (w->dirty && now - w->written_ms >= STATE_EVERY_MS)
            write_state(w, now, getpid());
        if (!is_over(w))
            wait_for_something(w, now);
    }
    return 0;
}

/* ---- From beginning to end ------------------------------------------------------------------- */

/* Adds the signals that end the watch, except those that are ignored (nohup): a blocked signal
 * would be received even if ignored. */
static void add_ending(sigset_t *set)
{
    static const int ending[] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        struct sigaction now;
        if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(set, ending[i]);
    }
}

static int block_signals(int *fd, sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    add_ending(&set);
    sigprocmask(SIG_BLOCK, &set, before);
    *fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return *fd < 0 ? vp_fail(VP_EIO, "cannot wait for signals: %s", strerror(errno)) : 0;
}

static watch_end watch_end_of(const watcher *w)
{
    watch_end end = WATCH_OK;
    for (size_t i = 0; w->o->times && i < w->jobs.n; i++) {
        const watch_job *j = w->jobs.v[i];
        if (j->last_slower)
            return WATCH_SLOWER;
        end = j->last_empty && !j->unlisted_ms ? WATCH_NOTHING : end;
    }
    return end;
}

static int watch_begin(watcher *w)
{
    VP_TRY(watch_store_open(&w->store, w->o));
    watch_ring_sweep(&w->store);
    VP_TRY(watch_state_read(&w->store, w->o, &w->jobs));
    VP_TRY(read_lists(w, vp_now_ms()));
    VP_TRY(watch_state_write(&w->store, w->o, &w->jobs, getpid()));
    for (size_t i = 0; i < w->parallel; i++)
        watch_round_init(&w->rounds[i], i, w->o, &w->store, &w->jobs);
    return watch_loop(w);
}

int watch_run(const watch_options *o, watch_end *end)
{
    sigset_t before;
    watcher *w = vp_calloc(1, sizeof *w);
    VP_NEED(w);
    w->o = o;
    w->store = (watch_store){.dir = -1, .inner = -1, .lock = -1};
    w->parallel = (size_t)o->parallel < PARALLEL_MAX ? (size_t)o->parallel : PARALLEL_MAX;
    int rc = block_signals(&w->signals, &before);
    if (rc >= 0)
        rc = watch_begin(w);
    if (w->store.dir >= 0 && rc >= 0)
        write_state(w, vp_now_ms(), 0);
    *end = watch_end_of(w);
    for (size_t i = 0; i < w->parallel; i++)
        watch_round_free(&w->rounds[i]);
    watch_jobs_free(&w->jobs);
    watch_store_close(&w->store);
    vp_fs_close(&w->signals);
    sigprocmask(SIG_SETMASK, &before, NULL);
    vp_free(w);
    return rc;
}
