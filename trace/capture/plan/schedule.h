/* When to capture: decisions alone, without a clock, a lock or a recording, so that all of them can
 * be tried. The profiler keeps a sched_state and asks before each step; files of this room include
 * this header. Nothing is owned. */
#ifndef VP_CAPTURE_SCHEDULE_H
#define VP_CAPTURE_SCHEDULE_H

#include "include/view_profile_capture.h"

/* What a capture of vp_begin_step was started by. */
typedef enum sched_cause { SCHED_NOTHING, SCHED_START_STEP, SCHED_ASKED } sched_cause;

/* The life of the captures of one vp_profiler. All zero: none so far. */
typedef struct sched_state {
    uint64_t captures;   /* that succeeded, of whatever kind; the caller counts */
    bool start_is_over;  /* start_step has had its capture, or that could not start */
    uint64_t next;       /* with steps_every: when the next is due; 0: at start_step */
    uint64_t want, done; /* steps of the capture that is on; want 0: none is */
} sched_state;

/* VP_EARG: names the field. VP_EVERSION: of it, or of its recording. */
int sched_check(const vp_schedule *s);
/* The time limit of a capture as vp_config has it, 0: none. */
unsigned sched_duration_ms(const vp_schedule *s);

/* Whether a context of this step captures: enabled, not as often yet as allowed, on the grid. */
bool sched_due(const vp_schedule *s, uint64_t captures, uint64_t step);
/* Whether it would but for max_profile_count. */
bool sched_is_limited(const vp_schedule *s, uint64_t captures, uint64_t step);
/* Whether a capture starts with this step, and why; asked: steps that somebody asked for, 0: none.
 * What was asked for goes first, and counts for itself: neither the step nor max_profile_count
 * stands against it. While a capture is on: SCHED_NOTHING. */
sched_cause sched_start(const vp_schedule *s, const sched_state *st, uint64_t step, uint64_t asked);
/* Whether one that nobody asked for would but for max_profile_count. */
bool sched_start_is_limited(const vp_schedule *s, const sched_state *st, uint64_t step);
/* The capture has started with this step, or could not. */
void sched_started(sched_state *st, const vp_schedule *s, sched_cause cause, uint64_t step,
                   uint64_t asked, bool ok);
/* The first step after this one that is `every` steps, or a multiple, after first; saturates. */
uint64_t sched_next(uint64_t first, uint64_t every, uint64_t step);
/* A step has ended; true: with it the capture does, after ran_ms. */
bool sched_step_ends(sched_state *st, const vp_schedule *s, uint64_t ran_ms);
/* The capture has ended. */
void sched_ended(sched_state *st);

#endif
