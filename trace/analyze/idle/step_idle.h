/* Idle time of steps by cause: pieces of gaps laid over a device's step windows. Only analyze/
 * includes this. */
#ifndef VP_ANALYZE_STEP_IDLE_H
#define VP_ANALYZE_STEP_IDLE_H

#include "trace/analyze/idle/idle.h"

typedef struct step_idle {
    const step_windows *windows; /* of the device; NULL without steps */
    vp_steps *steps;
    size_t at;
} step_idle;

step_idle step_idle_of(const analysis *a, uint32_t device);
/* Where the device's steps begin and end; false without any. */
bool step_idle_extent(const step_idle *s, int64_t *start, int64_t *end);
/* To be called in the order of the pieces. */
void step_idle_add(step_idle *s, const idle_piece *p);
/* What no piece explained is UNKNOWN: the causes of each step sum to its idle time. */
void step_idle_close(step_idle *s);

#endif
