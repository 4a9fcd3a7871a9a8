/* Recordings: one is on at a time, others may still be written. Private to the recorder.
 *
 *     ACTIVE --stop, time limit, exit--> ENDING --image complete--> WRITING --files--> DONE
 *
 * What the application holds is a number, never an address: a stale handle finds nothing. session.c
 * keeps the list of them and its lock; session_begin.c, session_switch.c and session_end.c lead
 * them through their states.
 *
 * Sessions are numbers to the application, never addresses: a stale handle finds nothing, and stops
 * nobody else's recording. Schedules, contexts, benchmarks and control record by vp_start and
 * vp_stop like anybody else.
 *
 * Files are written aside, several at once: each belongs to a session of its own, and shares
 * nothing but the log function with the others. The past is such a session, made of a copy by the
 * thread that writes it; what ended later than the slow step is left out by its time, so it does
 * not matter when the copy is made. A capture of a profiler waits for earlier files only when four
 * are being written: each holds its pool (64 MiB) until then, and steps that are all captured onto
 * a slow disk would fill the memory. What still waits in a step is the start of a capture for the
 * copy of a ring that a slow step has just asked for (some ms), and never for its files. */
#ifndef VP_CAPTURE_SESSION_H
#define VP_CAPTURE_SESSION_H

#include <pthread.h>
#include <sys/types.h>

#include "trace/base/err.h"
#include "trace/capture/disk/run_dir.h"
#include "trace/capture/image/count.h"
#include "trace/capture/image/pool.h"
#include "trace/capture/image/recorder.h"
#include "trace/capture/session/job.h"

enum { CAP_ACTIVE, CAP_ENDING, CAP_WRITING, CAP_DONE };

typedef struct cap_session {
    struct cap_session *next;
    uint64_t number; /* the handle */
    int state;
    unsigned readers; /* of its image: that stays */
    unsigned waiters; /* for its end: it stays */
    bool ended_itself;
    struct cap_session *outer; /* whose callback runs around this one's, on one thread */
    bool telling;              /* a thread tells that its pool is full */
    bool in_callback; /* device_sync or log runs: how long that takes is the application's to say */
    pid_t pid;
    uint32_t generation;
    vp_config cfg;
    char *dir, *host; /* what cfg points to */
    cap_run run;
    cap_job job;
    char pool_name[300];   /* in the run directory; "": memory */
    bool standby;          /* a ring that nobody asked for yet: nothing is left of it at exit */
    int lock_fd;           /* of its file, locked (vpcap_is_held); -1: none */
    cap_pool pool;         /* once it is not the one that is on */
    char notice[512];      /* for its log, once the lock is off; "": none */
    int notice_level;      /* VP_SAY_… */
    bool settled;          /* no thread is in the pool any more */
    struct cap_past *past; /* what it is made of before it is written; NULL: it recorded itself */
    vpcap_pair stop;       /* when it was switched off */
    int64_t later_ns;      /* after its pool was full; 0: that did not end it */
    struct gpu_activity *gpu;
    vp_result result;
    int status; /* of the writing */
    vp_error error;
} cap_session;

/* All below: with the lock held. */
void session_lock(void);
void session_unlock(void);
void session_wait(void); /* for a change of any state */
/* false: it is later than `until` (CLOCK_MONOTONIC). */
bool session_wait_until(const struct timespec *until);
void session_changed(void);
cap_session *session_find(const vp_recording *r);
/* What the caller knows a session by. */
vp_recording *session_handle(uint64_t number);
/* Whether one of this process is being ended or written; without callbacks: by us. */
bool session_writing(bool with_callbacks);
/* How long exit() waits for callbacks that other threads run. */
extern unsigned cap_callback_ms;

/* Makes one that does nothing yet and stands on no list. */
int session_new(cap_session **out, const vp_config *cfg);
/* Puts it on the list, by which it has a number. */
void session_enlist(cap_session *s);
/* Takes it off the list and frees it. */
void session_forget(cap_session *s);
/* Forgets the oldest result that nobody waits for, where they pile up. */
void session_drop_oldest(void);
/* Lets go of the lock on its file. */
void session_release(cap_session *s);
/* In a child: none of them is its own to end or to write. */
void session_abandon_all(void);
/* One in the state WRITING that never recorded, with cfg's directory and outputs; its `past` is
 * the caller's to fill in before session_write. */
int session_derive(cap_session **out, const vp_config *cfg);

#endif
