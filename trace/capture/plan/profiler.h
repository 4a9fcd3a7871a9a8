/* The inside of a vp_profiler: profiler.c steps it, captures.c starts and ends its recordings,
 * profiler_list.c keeps the list of all, context.c gives single steps one of their own. Files of
 * this room include this header; a profiler belongs to who made it.
 *
 * "Profiler enabled for next N steps" is said by the step that starts the capture, not by
 * vp_capture_async (capture.md 1.3), which may be called in a signal handler, where no log function
 * may run. */
#ifndef VP_CAPTURE_PROFILER_H
#define VP_CAPTURE_PROFILER_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "trace/base/limits.h"
#include "trace/capture/image/recorder.h"
#include "trace/capture/plan/schedule.h"
#include "trace/capture/plan/step_stats.h"
#include "trace/capture/write/flop_stats.h"

/* Captures that are being written while the next one records: each holds its pool until it is. The
 * one beyond them waits for the oldest, since memory has an end. */
#define PROF_WRITING_MAX 4u

/* A capture that has been counted, and not waited for. */
typedef struct prof_written {
    vp_recording *recording;
    uint64_t number; /* in the order in which they ended */
    bool is_past;    /* of a slow step */
    bool is_told;    /* that it could not be written */
} prof_written;

/* Why a step that was due was not captured. */
typedef enum prof_miss {
    MISS_IN_USE,      /* another recording is on */
    MISS_STEP_FAILED, /* a capture of steps could not start */
    MISS_CONTEXT_FAILED,
    MISS_LIMIT, /* max_profile_count */
    MISS_SLOW,  /* a slow one, by a slower one before it */
    MISS_PAST,  /* a slow one that has no past */
    PROF_MISSES
} prof_miss;

struct vp_profiler {
    struct vp_profiler *next; /* of all of the process */
    vp_schedule s;            /* its profiling_dir is dir, its recording.host is ours */
    char dir[VP_PATH_MAX];
    char *host; /* NULL: the default */

    /* From any thread, and from signal handlers. */
    _Atomic uint64_t asked;   /* steps that somebody wants from the next vp_begin_step on */
    _Atomic unsigned outside; /* it was asked from outside of the program (prof_ask); 0: not */
    _Atomic bool refused;     /* somebody asked while a capture was on: to be said */
    _Atomic unsigned on;      /* captures that are on, */
    _Atomic pid_t on_pid;     /* in this process */
    _Atomic bool exit_said;   /* that one was on when the process, or its profiler, ended */
    _Atomic bool dir_said;
    _Atomic bool stepped; /* by vp_begin_step, once at least */

    /* Of the thread that steps. */
    vp_recording *recording; /* of vp_begin_step */
    int64_t recording_ns;    /* when it started */
    _Atomic bool in_step;
    _Atomic int64_t step_seen_ns; /* when one of its steps began or ended last */
    uint64_t step;
    int64_t step_ns;
    int64_t own_ns;        /* own_time_ns when it began */
    pthread_t step_thread; /* that began it */
    uint32_t step_name;
    cap_begun zone;   /* of the step */
    bool ring_failed; /* said once; then there is no ring */

    pthread_mutex_t lock; /* of all below; never held while the log function runs */
    flop_stats flops;
    _Atomic pid_t
        flops_due; /* whose they are, while a capture is on that will write them; else 0 */
    sched_state state;
    step_stats steps;
    uint64_t tokens;
    uint64_t last_ns;
    int64_t missed_ns[PROF_MISSES];         /* before then nothing is said of it again */
    vp_recording *ring;                     /* for slow steps; NULL: not on */
    uint64_t pasts;                         /* of slow steps, that succeeded */
    prof_written writing[PROF_WRITING_MAX]; /* oldest first */
    uint32_t writing_count;
    uint64_t ended, last_number; /* captures; the one that `last` is of, 0: none */
    vp_result last;              /* that was written */
};

/* ---- profiler_list.c ---- */
/* From now on p is one of those that exit() and marked steps are told to. */
void prof_list_add(vp_profiler *p);
void prof_list_take(const vp_profiler *p);
/* Writes flop_stats.json of the capture that was on. As flop_stats_write. */
int prof_write_flops(vp_profiler *p);
/* Of vp_error_last: that failed. */
void prof_say_no_flops(const vp_config *cfg);
/* A capture was on when the process, or its profiler, ended. */
void prof_say_still_on(const vp_config *cfg);
/* A step that something else marked, and that took `ns` from begin_ns on; p: whose it is, NULL: of
 * all profilers. It is none of one that was in a step of its own meanwhile. */
void prof_count_marked(vp_profiler *p, int64_t begin_ns, uint64_t ns);
/* From now on exit() tells of captures that are on, before it ends them. */
void prof_tell_exits(void);

/* ---- missed.c ---- */
/* "Step N was not captured: …", unless the same cause was said within a minute; a limit is said
 * once. */
void prof_say_missed(vp_profiler *p, prof_miss cause, uint64_t step, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Of vp_error_last: somebody records already. */
void prof_say_in_use(vp_profiler *p, uint64_t step);
void prof_say_limit(vp_profiler *p, uint64_t step);
/* Whether what has this cause may be said now, which counts as if it were. */
bool prof_may_say(vp_profiler *p, prof_miss cause);

/* ---- captures.c ---- */
/* To the log function, as an error: what failed, and of vp_error_last where and why. */
void prof_say_failed(const vp_profiler *p, const char *what);
/* Starts a recording of p's kind in dir, and gives up a ring for it. Waits for no files, unless
 * those of PROF_WRITING_MAX captures are being written. Says nothing. As vp_start. */
int prof_start(vp_profiler *p, vp_recording **out, const char *dir);
/* Ends it, and keeps count. early: it is not done yet. As vp_stop. */
int prof_stop(vp_profiler *p, vp_recording *r, bool early);
/* What every capture of p starts from; it points to p's. */
vp_config prof_config(const vp_profiler *p);
/* As vp_capture_async, for somebody who is not the program: gpu (NULL: as the schedule has it) is
 * of this capture alone, which goes on without it when there is none; what fails is told to
 * control. */
int prof_ask(vp_profiler *p, uint64_t steps, const vp_gpu *gpu);
/* Whether the program steps by this profiler's vp_begin_step. */
bool prof_has_stepped(const vp_profiler *p);
/* Whether a capture that was asked for waits for its first step. */
bool prof_is_asked(const vp_profiler *p);
/* It does so no more; false: it did not. */
bool prof_forget_asked(vp_profiler *p);
typedef struct prof_told {
    bool armed, writing;
    uint64_t steps;
    uint64_t captures; /* whose files are there */
    uint64_t number;   /* of the last one of these, from 1; 0: none */
    vp_result last;    /* it */
} prof_told;
/* How it stands with p now; waits for nothing, takes nothing from whoever waits for a capture. */
void prof_tell(prof_told *out, vp_profiler *p);
/* Waits for the files of all captures. One that could not be written does not count. */
void prof_settle(vp_profiler *p);
/* Keeps a ring on where slow steps are watched for and no other recording is on. */
void prof_keep_ring(vp_profiler *p);
/* Why no past can be written: there is no ring, or no place for one more that is being written;
 * NULL: it can. */
const char *prof_has_no_past(vp_profiler *p);
/* Has what the ring holds of the last `seconds` written, on another thread. false: it could not
 * begin, which is said. */
bool prof_write_past(vp_profiler *p, double seconds);
void prof_end_ring(vp_profiler *p);
/* Called for every profiler that is freed, when its captures are written: set by control once it
 * was handed one, since it stands above. */
typedef void prof_gone_fn(const vp_profiler *p);
extern _Atomic(prof_gone_fn *) prof_gone;

#endif
