/* Steps that are not marked by vp_begin_step: contexts, VP_STEP, vp_step_begin. Each thread tracks
 * its own until they end; a nested step with the same number is the same step. Private to this
 * module. Nothing is allocated. */
#ifndef VP_CAPTURE_STEP_MARKS_H
#define VP_CAPTURE_STEP_MARKS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct step_mark {
    uint64_t number;
    int64_t ns, own_ns; /* start of the step; own_time_ns at that time */
    unsigned inside;    /* number of nested steps with the same number */
} step_mark;

/* A thread's newest open steps. One that ends on another thread stays until there are too many and
 * it is the oldest. */
#define STEP_MARKS 4u
typedef struct step_marks {
    unsigned n;
    step_mark v[STEP_MARKS];
} step_marks;

/* A step begins on the calling thread. */
void step_mark_begin(uint64_t number);
/* A step ends on it. true: it began at *begin_ns (vp_now_ns) and took *ns. */
bool step_mark_end(uint64_t number, int64_t *begin_ns, uint64_t *ns);

#endif
