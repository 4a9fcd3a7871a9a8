/* Recordings ("sessions"): one is active at a time, others may still be written. Private to the
 * recorder.
 *
 *     ACTIVE --stop, time limit, exit--> ENDING --image complete--> WRITING --files--> DONE
 *
 * The application holds the number of a session, never an address: a stale handle finds nothing,
 * and cannot stop another recording. session.c owns the list of sessions and its lock;
 * session_begin.c, session_switch.c and session_end.c change their states. Schedules, contexts,
 * benchmarks and control use vp_start and vp_stop like other callers.
 *
 * Other threads write the files, of several sessions at once: a session is self-contained and
 * shares only the log function with others. A past is such a session; its writing thread first
 * makes the copy. Events after the slow step are excluded by time, so the time of the copy does not
 * matter. A capture of a profiler waits for earlier files only if four are being written: each
 * holds its pool (64 MiB) until then, and a program that captures all its steps to a slow disk
 * would otherwise exhaust the memory. Within a step, the start of a capture may wait a few ms for a
 * copy of the ring that a slow step requested, but never for its files. */
#ifndef VP_CAPTURE_SESSION_H
#define VP_CAPTURE_SESSION_H

#include <pthread.h>
#include <sys/types.h>

#include "trace/base/err.h"
#include "trace/capture/disk/run_dir.h"
#include "trace/capture/pool/count.h"
#include "trace/capture/pool/pool.h"
#include "trace/capture/pool/recorder.h"
#include "trace/capture/session/job.h"

enum { CAP_ACTIVE, CAP_ENDING, CAP_WRITING, CAP_DONE };

typedef struct cap_session {
    struct cap_session *next;
    uint64_t number; /* the handle */
    int state;
    unsigned readers; /* sessions that read its image; it is not freed meanwhile */
    unsigned waiters; /* threads that wait for its end; it is not freed meanwhile */
    bool ended_itself;
    struct cap_session *outer; /* session in whose callback this one's was called, on one thread */
    bool telling;              /* a thread is reporting that its pool is full */
    bool in_callback;          /* device_sync or log is running, which may take arbitrarily long */
    pid_t pid;
    uint32_t generation;
    vp_config cfg;
    char *dir, *host; /* texts referenced by cfg */
    cap_run run;
    cap_job job;
    char pool_name[300];   /* file of the pool in the run directory; "": memory only */
    bool standby;          /* a ring started as a precaution: exit() removes it */
    int lock_fd;           /* of the pool's file, which it locks (vpcap_is_held); -1: none */
    cap_pool pool;         /* while the session is active, its pool is cap_pool_now */
    char notice[512];      /* message for its log after the lock is released; "": none */
    int notice_level;      /* VP_SAY_… */
    bool settled;          /* no thread is inside a record in the pool any more */
    struct cap_past *past; /* source of its copy; NULL: it recorded itself */
    vpcap_pair stop;       /* time when it was switched off */
    int64_t later_ns;      /* active time after its pool was full; 0: it was not full */
    struct gpu_activity *gpu;
    vp_result result;
    int status; /* 0, or why its files could not be written */
    vp_error error;
} cap_session;

/* All functions below: the caller holds this lock. */
void session_lock(void);
void session_unlock(void);
void session_wait(void); /* waits until the state of any session changes */
/* The same; false: `until` (CLOCK_MONOTONIC) has passed. */
bool session_wait_until(const struct timespec *until);
void session_changed(void);
cap_session *session_find(const vp_recording *r);
/* The application's handle of a session. */
vp_recording *session_handle(uint64_t number);
/* True if a session of this process is being ended or written; with_callbacks: or runs a
 * callback. */
bool session_writing(bool with_callbacks);
/* Time in ms that exit() waits for callbacks on other threads. */
extern unsigned cap_callback_ms;

/* Makes an inactive session that is on no list. */
int session_new(cap_session **out, const vp_config *cfg);
/* Adds a session to the list and gives it a number. */
void session_enlist(cap_session *s);
/* Removes a session from the list and frees it. */
void session_forget(cap_session *s);
/* If there are too many results that were never awaited, drops the oldest. */
void session_drop_oldest(void);
/* Releases the lock on its file. */
void session_release(cap_session *s);
/* In a forked child: it must not end or write any of the parent's sessions. */
void session_abandon_all(void);
/* Makes a session in the state WRITING that never recorded, with cfg's directory and outputs. The
 * caller sets its `past` before session_write. */
int session_derive(cap_session **out, const vp_config *cfg);

#endif
