/* Decides when to capture: decisions only, without a clock, a lock or a recording, so that tests
 * can cover all of them. The profiler owns a sched_state and queries it before each step. Private
 * to this module. Nothing is allocated. */
#ifndef VP_CAPTURE_SCHEDULE_H
#define VP_CAPTURE_SCHEDULE_H

#include "include/view_profile_capture.h"

/* Why vp_begin_step started a capture. */
typedef enum sched_cause { SCHED_NOTHING, SCHED_START_STEP, SCHED_ASKED } sched_cause;

/* The captures of one vp_profiler so far. Initialize to zero. */
typedef struct sched_state {
    uint64_t captures;   /* successful captures of any kind, counted by the caller */
    bool start_is_over;  /* start_step was captured, or could not be */
    uint64_t next;       /* with steps_every: step of the next capture; 0: start_step */
    uint64_t want, done; /* steps of the active capture, and those that ended; want 0: inactive */
} sched_state;

/* VP_EARG: names the invalid field. VP_EVERSION: of the schedule, or of its recording. */
int sched_check(const vp_schedule *s);
/* The time limit of a capture in ms as in vp_config; 0: none. */
unsigned sched_duration_ms(const vp_schedule *s);

/* True if a context of this step captures: contexts are enabled, max_profile_count is not reached,
 * and the schedule selects the step. */
bool sched_due(const vp_schedule *s, uint64_t captures, uint64_t step);
/* True if only max_profile_count prevents a capture. */
bool sched_is_limited(const vp_schedule *s, uint64_t captures, uint64_t step);
/* Returns if a capture starts with this step, and why. asked: number of requested steps, 0: none. A
 * request has priority, and is never refused because of start_step or max_profile_count.
 * SCHED_NOTHING while a capture is active. */
sched_cause sched_start(const vp_schedule *s, const sched_state *st, uint64_t step, uint64_t asked);
/* True if only max_profile_count prevents a scheduled capture from starting with this step. */
bool sched_start_is_limited(const vp_schedule *s, const sched_state *st, uint64_t step);
/* Call when the capture has started with this step, or could not start. */
void sched_started(sched_state *st, const vp_schedule *s, sched_cause cause, uint64_t step,
                   uint64_t asked, bool ok);
/* The first step after `step` that is first plus a multiple of `every`; saturates. */
uint64_t sched_next(uint64_t first, uint64_t every, uint64_t step);
/* Call when a step has ended. True: the capture, which has run for ran_ms, ends with it. */
bool sched_step_ends(sched_state *st, const vp_schedule *s, uint64_t ran_ms);
/* Call when the capture has ended. */
void sched_ended(sched_state *st);

#endif
