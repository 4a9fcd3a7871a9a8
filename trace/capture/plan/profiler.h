/* Internals of a vp_profiler: profiler.c handles steps, captures.c starts and ends its recordings,
 * profiler_list.c lists all profilers, context.c records single steps. Private to this module. The
 * caller of the API owns the profiler. Functions return 0 or a code of vp_start and vp_stop.
 *
 * The message "Profiler enabled for next N steps" comes from the step that starts a capture.
 * vp_capture_async may run in a signal handler, where the log function must not be called
 * (docs/reference/recording.md#asynchronous-captures). */
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

/* Captures that may be written while the next one records. Each holds its pool until then, so
 * memory limits them; one more waits for the oldest. */
#define PROF_WRITING_MAX 4u

/* A capture that has ended and is counted, but whose files are not awaited yet. */
typedef struct prof_written {
    vp_recording *recording;
    uint64_t number; /* ascending in the order of their ends */
    bool is_past;    /* the past of a slow step, from a ring */
    bool is_told;    /* its write failure was reported */
} prof_written;

/* Why a due step was not captured. */
typedef enum prof_miss {
    MISS_IN_USE,      /* another recording is active */
    MISS_STEP_FAILED, /* a capture of steps could not start */
    MISS_CONTEXT_FAILED,
    MISS_LIMIT, /* max_profile_count */
    MISS_SLOW,  /* a slow step, but a slower one preceded it */
    MISS_PAST,  /* a slow step without a past */
    PROF_MISSES
} prof_miss;

struct vp_profiler {
    struct vp_profiler *next; /* list of all profilers of the process */
    vp_schedule s;            /* with owned copies: profiling_dir is dir, recording.host is host */
    char dir[VP_PATH_MAX];
    char *host; /* NULL: the default */

    /* Accessed by any thread, and by signal handlers. */
    _Atomic uint64_t asked;   /* steps requested from the next vp_begin_step on */
    _Atomic unsigned outside; /* requested from outside of the program (prof_ask); 0: not */
    _Atomic bool refused;     /* a request was refused during a capture, which must be reported */
    _Atomic unsigned on;      /* number of active captures … */
    _Atomic pid_t on_pid;     /* … in this process */
    _Atomic bool exit_said;   /* prof_say_still_on was called */
    _Atomic bool dir_said;
    _Atomic bool stepped; /* vp_begin_step was called */

    /* Used by the thread that steps. */
    vp_recording *recording; /* of vp_begin_step */
    int64_t recording_ns;    /* when it started */
    _Atomic bool in_step;
    _Atomic int64_t step_seen_ns; /* time at which a step of the capture last began or ended */
    uint64_t step;
    int64_t step_ns;
    int64_t own_ns;        /* own_time_ns when the step began */
    pthread_t step_thread; /* thread that began the step */
    uint32_t step_name;
    cap_begun zone;   /* the step's zone */
    bool ring_failed; /* the ring could not start, which was reported; no further attempt */

    pthread_mutex_t lock; /* guards the members below; never held during the log function */
    flop_stats flops;
    _Atomic pid_t flops_due; /* process that will write them after its capture; else 0 */
    sched_state state;
    step_stats steps;
    uint64_t tokens;
    uint64_t last_ns;
    int64_t missed_ns[PROF_MISSES];         /* by cause: no further message before this time */
    vp_recording *ring;                     /* for slow steps; NULL: inactive */
    uint64_t pasts;                         /* number of pasts of slow steps that were written */
    prof_written writing[PROF_WRITING_MAX]; /* oldest first */
    uint32_t writing_count;
    uint64_t ended, last_number; /* captures; last_number: that of `last`, 0: none */
    vp_result last;              /* result of the last written capture */
};

/* ---- profiler_list.c ---- */
/* Adds p to the list of profilers that are notified of exit() and of steps marked by others; _take
 * removes it. */
void prof_list_add(vp_profiler *p);
void prof_list_take(const vp_profiler *p);
/* Writes flop_stats.json of the active capture. Returns like flop_stats_write. */
int prof_write_flops(vp_profiler *p);
/* Reports that flop_stats.json could not be written, with the reason in vp_error_last. */
void prof_say_no_flops(const vp_config *cfg);
/* Reports that a capture was active when the process or its profiler ended. */
void prof_say_still_on(const vp_config *cfg);
/* Counts a step that p did not mark itself, which took `ns` from begin_ns on. p: owner of the step;
 * NULL: all profilers, except those that were in their own step meanwhile. */
void prof_count_marked(vp_profiler *p, int64_t begin_ns, uint64_t ns);
/* Makes exit() report active captures before it ends them. */
void prof_tell_exits(void);

/* ---- missed.c ---- */
/* Reports "Step N was not captured: …", unless the same cause was reported within a minute. A limit
 * is reported only once. */
void prof_say_missed(vp_profiler *p, prof_miss cause, uint64_t step, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Reports that another recording is active, with vp_error_last. */
void prof_say_in_use(vp_profiler *p, uint64_t step);
void prof_say_limit(vp_profiler *p, uint64_t step);
/* True if this cause may be reported now, which counts as reported then. */
bool prof_may_say(vp_profiler *p, prof_miss cause);

/* ---- captures.c ---- */
/* Reports to the log function, as an error, that `what` failed, with place and reason of
 * vp_error_last. */
void prof_say_failed(const vp_profiler *p, const char *what);
/* Starts a recording in dir with the settings of p's schedule, after ending p's ring. Waits for
 * files only if PROF_WRITING_MAX captures are being written. Reports nothing. Returns like
 * vp_start. */
int prof_start(vp_profiler *p, vp_recording **out, const char *dir);
/* Ends the recording and counts it. early: before its steps are complete. Returns like vp_stop. */
int prof_stop(vp_profiler *p, vp_recording *r, bool early);
/* The configuration of p's captures. It points to texts of p. */
vp_config prof_config(const vp_profiler *p);
/* Like vp_capture_async, for requests from outside the program. gpu (NULL: as in the schedule) is
 * valid for this capture only, which continues without the GPU if there is none. Failures are
 * reported to control. */
int prof_ask(vp_profiler *p, uint64_t steps, const vp_gpu *gpu);
/* True if the program has called p's vp_begin_step. */
bool prof_has_stepped(const vp_profiler *p);
/* True if a requested capture waits for its first step. */
bool prof_is_asked(const vp_profiler *p);
/* Cancels a requested capture that has not begun; false: there is none. */
bool prof_forget_asked(vp_profiler *p);
typedef struct prof_told {
    bool armed, writing;
    uint64_t steps;
    uint64_t captures; /* captures with complete files */
    uint64_t number;   /* number of the last of these, from 1; 0: none */
    vp_result last;    /* its result */
} prof_told;
/* The current state of p's captures. It does not wait, and consumes no result that another caller
 * waits for. */
void prof_tell(prof_told *out, vp_profiler *p);
/* Waits for the files of all captures. A capture that could not be written does not count. */
void prof_settle(vp_profiler *p);
/* Starts p's ring if it watches for slow steps and no other recording is active. */
void prof_keep_ring(vp_profiler *p);
/* Why no past can be written: no ring, or too many captures are being written. NULL: possible. */
const char *prof_has_no_past(vp_profiler *p);
/* Writes the ring's last `seconds` on another thread. false: it could not begin, which was
 * reported. */
bool prof_write_past(vp_profiler *p, double seconds);
void prof_end_ring(vp_profiler *p);
/* Called for every profiler that is freed, after its captures are written. Control sets it when it
 * gets a profiler: control is a higher layer, which this module must not call by name. */
typedef void prof_gone_fn(const vp_profiler *p);
extern _Atomic(prof_gone_fn *) prof_gone;

#endif
