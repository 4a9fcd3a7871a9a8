/* Recordings: one is on at a time, others may still be written. Private to the recorder.
 *
 *     ACTIVE --stop, time limit, exit--> ENDING --image complete--> WRITING --files--> DONE
 *
 * What the application holds is a number, never an address: a stale handle finds nothing. */
#ifndef VP_CAPTURE_SESSION_H
#define VP_CAPTURE_SESSION_H

#include <pthread.h>
#include <sys/types.h>

#include "trace/base/err.h"
#include "trace/capture/recorder.h"
#include "trace/capture/job.h"
#include "trace/capture/run_dir.h"
#include "trace/capture/pool.h"

enum { CAP_ACTIVE, CAP_ENDING, CAP_WRITING, CAP_DONE };

/* Whether a recording ends where its owner meant it to: then a zone that is still open is none of
 * it. What is cut off keeps those. */
typedef enum cap_cut { CAP_WHOLE, CAP_CUT_IF_OPEN, CAP_CUT } cap_cut;

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
cap_session *session_active(void);    /* also while it ends */
cap_session *session_recording(void); /* the active one, unless it is about to end; or NULL */
/* Whether this one, which is active, records no more because its pool is full. */
bool session_is_full(const cap_session *s);
/* Ends the active one if it is full, as if its time were over. Takes the lock off meanwhile. */
void session_end_full(void);
/* Whether one of this process is being ended or written; without callbacks: by us. */
bool session_writing(bool with_callbacks);
/* Whether this thread runs a callback of s, and so must not wait for it. */
bool session_calls_here(const cap_session *s);
/* The callbacks that this thread runs will not return, because the process ends: does what was to
 * be done after them. ENDING or WRITING → DONE. Takes the lock off. */
void session_end_called(void);
/* How long exit() waits for callbacks that other threads run. */
extern unsigned cap_callback_ms;

/* Makes one and switches it on; its notice is the caller's to say. parent: of a forked child that
 * records on beside it; else NULL. */
int session_begin(cap_session **out, const vp_config *cfg, const cap_session *parent, bool standby);
/* ACTIVE → WRITING. Takes the lock off while it waits for others. */
void session_end(cap_session *s, cap_cut cut);
/* WRITING → DONE, here or on a thread of its own. Takes the lock off. */
void session_write(cap_session *s, bool here);
void session_forget(cap_session *s);
/* One in the state WRITING that never recorded, with cfg's directory and outputs; its `past` is
 * the caller's to fill in before session_write. */
int session_derive(cap_session **out, const vp_config *cfg);
/* ACTIVE → gone, with what it made. Takes the lock off while it waits for others. */
void session_discard(cap_session *s);

/* full.c */
/* Says that the pool of this session is full, on another thread. */
void session_tell_full(uint64_t number, const cap_pool *p);
/* Waits until that is said, at most cap_callback_ms. Takes the lock off meanwhile. */
void session_await_told(cap_session *s);
/* Whether this thread does so: it must not wait for s. */
bool session_is_told_here(const cap_session *s);
/* It does so no more: its callback will not return. */
void session_end_telling(void);

/* past.c: fills in its image, directory and result. Without the lock. 0, or why not. */
int past_take(cap_session *s);

/* count.c: what an image that nobody writes to holds. */
void session_count(vp_result *result, const cap_pool *p);
/* The same of what is told of a ring, or of a past: it begins where all threads have theirs. */
void session_count_view(vp_result *result, const vpcap *v);
bool session_any_open(const cap_pool *p);
/* Every thread's block in it, of those that it still has. */
void session_each_block(const cap_pool *p, void (*fn)(void *ctx, vp__block *b), void *ctx);

/* process.c: what happens at fork and at exit. Once. */
int session_install(void);
/* In a child, with the lock held: nothing is on. Gives the one that was. */
cap_session *session_orphan(void);

#endif
