/* Recordings: one is on at a time, others may still be written. Private to the recorder.
 *
 *     ACTIVE --stop, time limit, exit--> ENDING --image complete--> WRITING --files--> DONE
 *
 * The application holds the number of a session, never an address: with a stale handle it finds
 * nothing, and stops nobody else's recording. session.c keeps the list of sessions and its lock;
 * session_begin.c, session_switch.c and session_end.c lead them through their states. Schedules,
 * contexts, benchmarks and control record by vp_start and vp_stop like anybody else.
 *
 * Other threads write the files, of several sessions at once: each session is complete in itself
 * and shares nothing but the log function with the others. A past is such a session: the thread
 * that writes it first makes the copy. What ended after the slow step is left out by its time, so
 * it does not matter when the copy is made. A capture of a profiler waits for earlier files only
 * when four are being written: each holds its pool (64 MiB) until then, and a program that captures
 * all its steps onto a slow disk would fill the memory. Within a step, the start of a capture may
 * still wait for the copy of a ring that a slow step has just asked for (some ms), but never for
 * its files. */
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
    unsigned readers; /* sessions that read its image, which stays meanwhile */
    unsigned waiters; /* threads that wait for its end: it stays meanwhile */
    bool ended_itself;
    struct cap_session *outer; /* in whose callback this one's was called, on one thread */
    bool telling;              /* a thread is telling that its pool is full */
    bool in_callback; /* device_sync or log runs, which may take as long as the application wants */
    pid_t pid;
    uint32_t generation;
    vp_config cfg;
    char *dir, *host; /* the texts that cfg points to */
    cap_run run;
    cap_job job;
    char pool_name[300];   /* of the pool's file in the run directory; "": it is memory */
    bool standby;          /* a ring that nobody asked for: exit() removes it */
    int lock_fd;           /* of the pool's file, which it locks (vpcap_is_held); -1: none */
    cap_pool pool;         /* while the session is on, its pool is cap_pool_now instead */
    char notice[512];      /* what its log is to be told once the lock is off; "": nothing */
    int notice_level;      /* VP_SAY_… */
    bool settled;          /* no thread is in the middle of a record in the pool any more */
    struct cap_past *past; /* what it is copied from; NULL: it recorded itself */
    vpcap_pair stop;       /* when it was switched off */
    int64_t later_ns;      /* how long it was on after its pool was full; 0: it was not full */
    struct gpu_activity *gpu;
    vp_result result;
    int status; /* 0, or why its files could not be written */
    vp_error error;
} cap_session;

/* Everything below is called with this lock held. */
void session_lock(void);
void session_unlock(void);
void session_wait(void); /* until the state of any session changes */
/* The same; false: it is later than `until` (CLOCK_MONOTONIC). */
bool session_wait_until(const struct timespec *until);
void session_changed(void);
cap_session *session_find(const vp_recording *r);
/* The handle by which the application knows a session. */
vp_recording *session_handle(uint64_t number);
/* Whether a session of this process is being ended or written; with_callbacks: also one whose
 * callback is running. */
bool session_writing(bool with_callbacks);
/* How long exit() waits for callbacks that other threads are running. */
extern unsigned cap_callback_ms;

/* Makes a session that does nothing yet and is on no list. */
int session_new(cap_session **out, const vp_config *cfg);
/* Puts a session on the list and gives it a number. */
void session_enlist(cap_session *s);
/* Takes a session off the list and frees it. */
void session_forget(cap_session *s);
/* If there are too many results that nobody waited for, forgets the oldest. */
void session_drop_oldest(void);
/* Gives up the lock on its file. */
void session_release(cap_session *s);
/* In a forked child: it may neither end nor write any of the parent's sessions. */
void session_abandon_all(void);
/* Makes a session in the state WRITING that never recorded, with cfg's directory and outputs. The
 * caller fills in its `past` before session_write. */
int session_derive(cap_session **out, const vp_config *cfg);

#endif
