/* Steps that are marked by something else than vp_begin_step: contexts, VP_STEP, vp_step_begin.
 * Each thread knows its own until they end: one within another of the same number is the same step.
 * Only this room includes it. */
#ifndef VP_CAPTURE_STEP_MARKS_H
#define VP_CAPTURE_STEP_MARKS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct step_mark {
    uint64_t number;
    int64_t ns, own_ns; /* when the step began; own_time_ns at that time */
    unsigned inside;    /* how many more of this number are open within it */
} step_mark;

/* A thread's open steps, the newest of them. One that ends on another thread stays until there are
 * too many and it is the oldest. */
#define STEP_MARKS 4u
typedef struct step_marks {
    unsigned n;
    step_mark v[STEP_MARKS];
} step_marks;

/* A step begins on the calling thread. */
void step_mark_begin(uint64_t number);
/* A step ends on it. true: that is one that began at *begin_ns (vp_now_ns) and took *ns. */
bool step_mark_end(uint64_t number, int64_t *begin_ns, uint64_t *ns);

#endif
