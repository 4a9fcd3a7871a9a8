/* The inside of a vp_profiler: profiler.c steps it, captures.c starts and ends its recordings,
 * context.c gives single steps one of their own. Files of this room include this header; a
 * profiler belongs to who made it. */
#ifndef VP_CAPTURE_PROFILER_H
#define VP_CAPTURE_PROFILER_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "trace/base/limits.h"
#include "trace/capture/flop_stats.h"
#include "trace/capture/recorder.h"
#include "trace/capture/schedule.h"
#include "trace/capture/step_stats.h"

struct vp_profiler {
    struct vp_profiler *next; /* of all of the process */
    vp_schedule s;            /* its profiling_dir is dir, its recording.host is ours */
    char dir[VP_PATH_MAX];
    char *host; /* NULL: the default */

    /* From any thread, and from signal handlers. */
    _Atomic uint64_t asked; /* steps that somebody wants from the next vp_begin_step on */
    _Atomic bool refused;   /* somebody asked while a capture was on: to be said */
    _Atomic unsigned on;    /* captures that are on */
    _Atomic bool dir_said;

    /* Of the thread that steps. */
    vp_recording *recording; /* of vp_begin_step */
    int64_t recording_ns;    /* when it started */
    bool in_step;
    uint64_t step;
    int64_t step_ns;
    uint32_t step_name;
    cap_begun zone; /* of the step */
    bool ring_failed; /* said once; then there is no ring */

    pthread_mutex_t lock; /* of all below; never held while the log function runs */
    flop_stats flops;
    _Atomic pid_t
        flops_due; /* whose they are, while a capture is on that will write them; else 0 */
    sched_state state;
    step_stats steps;
    uint64_t tokens;
    uint64_t last_ns;
    vp_recording *ring;    /* for slow steps; NULL: not on */
    vp_recording *writing; /* stopped, and not waited for */
    bool has_last;
    vp_result last; /* that was written */
};

/* ---- captures.c ---- */
/* Starts a recording of p's kind in dir, after the files of the one before it, and gives up a ring
 * for it. Says nothing. As vp_start. */
int prof_start(vp_profiler *p, vp_recording **out, const char *dir);
/* Ends it, and keeps count. early: it is not done yet. As vp_stop. */
int prof_stop(vp_profiler *p, vp_recording *r, bool early);
/* Waits for the files of the last capture. One that could not be written does not count. */
void prof_settle(vp_profiler *p);
/* Keeps a ring on where slow steps are watched for and no other recording is on. */
void prof_keep_ring(vp_profiler *p);
/* Writes what the ring holds of the last `seconds`. */
void prof_write_past(vp_profiler *p, double seconds);
void prof_end_ring(vp_profiler *p);

#endif
