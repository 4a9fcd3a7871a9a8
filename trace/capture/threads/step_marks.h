/* Steps that are marked by something else than vp_begin_step: contexts, VP_STEP, vp_step_begin.
 * Each thread knows its own until they end: one within another of the same number is the same step.
 * Only this room includes it. */
#ifndef VP_CAPTURE_STEP_MARKS_H
#define VP_CAPTURE_STEP_MARKS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct step_mark {
    uint64_t number;
    int64_t ns, own_ns; /* when it began; own_time_ns then */
    unsigned inside;    /* others of this number that are open in it */
} step_mark;

/* Of a thread: the newest of what is open. A step that ends on another thread stays until it is the
 * oldest of too many. */
#define STEP_MARKS 4u
typedef struct step_marks {
    unsigned n;
    step_mark v[STEP_MARKS];
} step_marks;

/* On the calling thread. */
void step_mark_begin(uint64_t number);
/* true: a step that began at *begin_ns (vp_now_ns) has ended, and took *ns. */
bool step_mark_end(uint64_t number, int64_t *begin_ns, uint64_t *ns);

#endif
