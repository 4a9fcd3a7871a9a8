/* The inside of a vp_profiler: profiler.c steps it, captures.c starts and ends its recordings,
 * profiler_list.c keeps the list of all profilers, context.c gives single steps recordings of their
 * own. Files of this room include this header; a profiler belongs to whoever made it.
 *
 * The step that starts a capture says "Profiler enabled for next N steps", not vp_capture_async
 * (docs/reference/recording.md#asynchronous-captures), which may run in a signal handler, where no
 * log function may be called. */
#ifndef VP_CAPTURE_PROFILER_H
#define VP_CAPTURE_PROFILER_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "trace/base/limits.h"
#include "trace/capture/pool/recorder.h"
#include "trace/capture/plan/schedule.h"
#include "trace/capture/plan/step_stats.h"
#include "trace/capture/write/flop_stats.h"

/* How many captures may be written while the next one records: each holds its pool until then, and
 * memory has an end. One more waits for the oldest. */
#define PROF_WRITING_MAX 4u

/* A capture that has ended and is counted, but whose files were not waited for yet. */
typedef struct prof_written {
    vp_recording *recording;
    uint64_t number; /* in the order in which they ended */
    bool is_past;    /* it is what a ring held of a slow step */
    bool is_told;    /* it was told that it could not be written */
} prof_written;

/* Why a step that was due was not captured. */
typedef enum prof_miss {
    MISS_IN_USE,      /* another recording is on */
    MISS_STEP_FAILED, /* a capture of steps could not start */
    MISS_CONTEXT_FAILED,
    MISS_LIMIT, /* max_profile_count */
    MISS_SLOW,  /* a slow step, because a slower one came before it */
    MISS_PAST,  /* a slow step, of which there is no past */
    PROF_MISSES
} prof_miss;

struct vp_profiler {
    struct vp_profiler *next; /* the list of all of the process */
    vp_schedule s; /* with copies of its own: profiling_dir is dir, recording.host is host */
    char dir[VP_PATH_MAX];
    char *host; /* NULL: the default */

    /* From any thread, and from signal handlers. */
    _Atomic uint64_t asked;   /* steps that somebody wants from the next vp_begin_step on */
    _Atomic unsigned outside; /* it was asked from outside of the program (prof_ask); 0: not */
    _Atomic bool refused;     /* somebody asked while a capture was on, which is to be said */
    _Atomic unsigned on;      /* captures that are on, */
    _Atomic pid_t on_pid;     /* in this process */
    _Atomic bool exit_said;   /* prof_say_still_on was called */
    _Atomic bool dir_said;
    _Atomic bool stepped; /* vp_begin_step was called, once at least */

    /* Of the thread that steps. */
    vp_recording *recording; /* of vp_begin_step */
    int64_t recording_ns;    /* when it started */
    _Atomic bool in_step;
    _Atomic int64_t step_seen_ns; /* when a step of the capture began or ended last */
    uint64_t step;
    int64_t step_ns;
    int64_t own_ns;        /* own_time_ns when the step began */
    pthread_t step_thread; /* the thread that began the step */
    uint32_t step_name;
    cap_begun zone;   /* of the step */
    bool ring_failed; /* the ring could not start, which was said; there will be none */

    pthread_mutex_t lock; /* of all below; never held while the log function runs */
    flop_stats flops;
    _Atomic pid_t flops_due; /* the process that will write them after its capture; else 0 */
    sched_state state;
    step_stats steps;
    uint64_t tokens;
    uint64_t last_ns;
    int64_t missed_ns[PROF_MISSES];         /* until when each cause is not said again */
    vp_recording *ring;                     /* for slow steps; NULL: not on */
    uint64_t pasts;                         /* pasts of slow steps that could be written */
    prof_written writing[PROF_WRITING_MAX]; /* oldest first */
    uint32_t writing_count;
    uint64_t ended, last_number; /* captures; last_number: of which of them `last` is, 0: of none */
    vp_result last;              /* result of the last capture that was written */
};

/* ---- profiler_list.c ---- */
/* Puts p on the list of those that hear of exit() and of steps that something else marks. */
void prof_list_add(vp_profiler *p);
void prof_list_take(const vp_profiler *p);
/* Writes flop_stats.json of the capture that was on. As flop_stats_write. */
int prof_write_flops(vp_profiler *p);
/* Says that flop_stats.json could not be written, with the reason in vp_error_last. */
void prof_say_no_flops(const vp_config *cfg);
/* Says that a capture was on when the process, or its profiler, ended. */
void prof_say_still_on(const vp_config *cfg);
/* Counts a step that something else than p marked, and that took `ns` from begin_ns on. p: whose
 * step it is; NULL: it is one of all profilers, except those that were in a step of their own
 * meanwhile. */
void prof_count_marked(vp_profiler *p, int64_t begin_ns, uint64_t ns);
/* From now on exit() says which captures are on, before it ends them. */
void prof_tell_exits(void);

/* ---- missed.c ---- */
/* Says "Step N was not captured: …", unless the same cause was said within a minute. A limit is
 * said only once. */
void prof_say_missed(vp_profiler *p, prof_miss cause, uint64_t step, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Says that somebody else records already, by vp_error_last. */
void prof_say_in_use(vp_profiler *p, uint64_t step);
void prof_say_limit(vp_profiler *p, uint64_t step);
/* Whether this cause may be said now. If so, it counts as said. */
bool prof_may_say(vp_profiler *p, prof_miss cause);

/* ---- captures.c ---- */
/* Tells the log function, as an error: `what` failed, and where and why (vp_error_last). */
void prof_say_failed(const vp_profiler *p, const char *what);
/* Starts a recording in dir as p's schedule has it, and gives up p's ring for it. Waits for no
 * files, unless those of PROF_WRITING_MAX captures are being written. Says nothing. Returns as
 * vp_start. */
int prof_start(vp_profiler *p, vp_recording **out, const char *dir);
/* Ends the recording and counts it. early: before its steps are done. Returns as vp_stop. */
int prof_stop(vp_profiler *p, vp_recording *r, bool early);
/* The configuration that every capture of p starts from. It points to texts of p. */
vp_config prof_config(const vp_profiler *p);
/* As vp_capture_async, for somebody outside the program. gpu (NULL: as the schedule has it) holds
 * for this capture alone, which goes on without the GPU when there is none. Failures are told to
 * control. */
int prof_ask(vp_profiler *p, uint64_t steps, const vp_gpu *gpu);
/* Whether the program has called p's vp_begin_step. */
bool prof_has_stepped(const vp_profiler *p);
/* Whether a capture that was asked for waits for its first step. */
bool prof_is_asked(const vp_profiler *p);
/* Forgets a capture that was asked for and has not begun; false: there was none. */
bool prof_forget_asked(vp_profiler *p);
typedef struct prof_told {
    bool armed, writing;
    uint64_t steps;
    uint64_t captures; /* captures whose files are complete */
    uint64_t number;   /* of the last of these, from 1; 0: there is none */
    vp_result last;    /* the result of that one */
} prof_told;
/* The state of p's captures now. It waits for nothing, and takes no result that somebody else waits
 * for. */
void prof_tell(prof_told *out, vp_profiler *p);
/* Waits for the files of all captures. A capture that could not be written does not count. */
void prof_settle(vp_profiler *p);
/* Starts p's ring if slow steps are watched for and no other recording is on. */
void prof_keep_ring(vp_profiler *p);
/* Why no past can be written: there is no ring, or too many captures are being written already;
 * NULL: it can be. */
const char *prof_has_no_past(vp_profiler *p);
/* Lets another thread write what the ring holds of the last `seconds`. false: it could not begin,
 * and that was said. */
bool prof_write_past(vp_profiler *p, double seconds);
void prof_end_ring(vp_profiler *p);
/* Called for every profiler that is freed, when its captures are written. Control sets it when it
 * is handed a profiler: control lies above this room, which may not call it by name. */
typedef void prof_gone_fn(const vp_profiler *p);
extern _Atomic(prof_gone_fn *) prof_gone;

#endif
