/* Handles fork and exit for recordings. */
#include "trace/capture/session/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/capture/pool/tables.h"
#include "trace/capture/session/session_begin.h"
#include "trace/capture/session/session_end.h"
#include "trace/capture/session/session_switch.h"
#include "trace/capture/threads/recording_thread.h"

static bool installed;

static void session_before_fork(void)
{
    session_lock();
    cap_names_lock();
    cap_tables_lock();
}

static void unlock_after_fork(void)
{
    cap_tables_unlock();
    cap_names_unlock();
}

static void in_parent(void)
{
    unlock_after_fork();
    session_unlock();
}

/* The child has neither the pool, which stays with the parent (MADV_DONTFORK), nor any other
 * thread. */
static void session_in_child(void)
{
    unlock_after_fork();
    cap_session *was = session_orphan(), *mine;
    cap_threads_forget();
    char notice[sizeof mine->notice] = "";
    if (was && was->cfg.follow_fork && session_begin(&mine, &was->cfg, was, was->standby) == 0)
        memcpy(notice, mine->notice, sizeof notice);
    int level = notice[0] ? mine->notice_level : VP_SAY_INFO;
    session_unlock();
    if (notice[0])
        cap_log(&was->cfg, level, "%s", notice);
}

static void session_at_exit(void);

/* A callback of the recording may call exit: session_at_exit is registered again and runs once
 * more. */
static void end_active(void)
{
    cap_session *s = session_recording();
    if (!s || s->cfg.no_atexit || s->pid != getpid())
        return;
    if (s->standby) {
        session_discard(s);
        return;
    }
    atexit(session_at_exit);
    session_end(s, CAP_CUT);
    session_write(s, true);
}

/* Waits for callbacks at most cap_callback_ms, because those on other threads may be waiting for
 * this thread. */
static void wait_for_session_files(void)
{
    struct timespec until;
    bool in_time = true;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += cap_callback_ms / 1000;
    until.tv_nsec += (long)(cap_callback_ms % 1000) * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (session_writing(in_time)) {
        if (in_time)
            in_time = session_wait_until(&until);
        else
            session_wait();
    }
}

/* Waits for files being written, which the end of the process would truncate. */
static void session_at_exit(void)
{
    session_lock();
    session_end_called();
    end_active();
    wait_for_session_files();
    session_unlock();
}

int session_install(void)
{
    if (installed)
        return 0;
    if (pthread_atfork(session_before_fork, in_parent, session_in_child) != 0 ||
        atexit(session_at_exit) != 0)
        return vp_fail(VP_ENOMEM, "out of memory: handlers of fork and exit");
    installed = true;
    return 0;
}
