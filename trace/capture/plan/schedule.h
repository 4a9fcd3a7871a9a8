/* When to capture: only the decisions, without a clock, a lock or a recording, so that tests can
 * try them all. The profiler keeps a sched_state and asks before each step; files of this room
 * include this header. Nothing is owned. */
#ifndef VP_CAPTURE_SCHEDULE_H
#define VP_CAPTURE_SCHEDULE_H

#include "include/view_profile_capture.h"

/* What started a capture by vp_begin_step. */
typedef enum sched_cause { SCHED_NOTHING, SCHED_START_STEP, SCHED_ASKED } sched_cause;

/* The captures of one vp_profiler so far. All zero: none. */
typedef struct sched_state {
    uint64_t captures;   /* those that succeeded, of any kind; the caller counts them */
    bool start_is_over;  /* start_step had its capture, or could not have it */
    uint64_t next;       /* with steps_every: the step at which the next is due; 0: start_step */
    uint64_t want, done; /* steps of the capture, and those that ended; want 0: none is on */
} sched_state;

/* VP_EARG names the field that makes no sense. VP_EVERSION: of the schedule, or of its recording.
 */
int sched_check(const vp_schedule *s);
/* The time limit of a capture as vp_config has it, 0: none. */
unsigned sched_duration_ms(const vp_schedule *s);

/* Whether a context of this step captures: contexts are enabled, max_profile_count is not reached,
 * and the step is one of those that the schedule picks. */
bool sched_due(const vp_schedule *s, uint64_t captures, uint64_t step);
/* Whether only max_profile_count keeps it from capturing. */
bool sched_is_limited(const vp_schedule *s, uint64_t captures, uint64_t step);
/* Whether a capture starts with this step, and why. asked: how many steps somebody asked for, 0:
 * none. What was asked for goes first and is never refused by start_step or max_profile_count.
 * SCHED_NOTHING while a capture is on. */
sched_cause sched_start(const vp_schedule *s, const sched_state *st, uint64_t step, uint64_t asked);
/* Whether only max_profile_count keeps a capture that nobody asked for from starting with this
 * step. */
bool sched_start_is_limited(const vp_schedule *s, const sched_state *st, uint64_t step);
/* To be called when the capture has started with this step, or could not start. */
void sched_started(sched_state *st, const vp_schedule *s, sched_cause cause, uint64_t step,
                   uint64_t asked, bool ok);
/* The first step after `step` that is first plus a multiple of `every`; saturates. */
uint64_t sched_next(uint64_t first, uint64_t every, uint64_t step);
/* To be called when a step has ended; true: the capture, which has run for ran_ms, ends with it. */
bool sched_step_ends(sched_state *st, const vp_schedule *s, uint64_t ran_ms);
/* The capture has ended. */
void sched_ended(sched_state *st);

#endif
