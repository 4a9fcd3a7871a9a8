/* Idle time of steps by cause: pieces of gaps laid over a device's step windows. Only analyze/
 * includes this. */
#ifndef VP_ANALYZE_STEP_IDLE_H
#define VP_ANALYZE_STEP_IDLE_H

#include "trace/analyze/idle.h"

typedef struct step_window {
    int64_t start, end; /* on the device's own clock */
    vp_step_device *step;
} step_window;

typedef struct step_windows {
    step_window *v; /* disjoint, ascending */
    size_t n, at;
} step_windows;

/* The windows of h->steps on a device, whose causes become 0. */
int step_windows_new(step_windows *out, const analysis *a, uint32_t device);
void step_windows_free(step_windows *w);
/* Pieces come in ascending order. */
void step_windows_add(step_windows *w, const idle_piece *p);
/* What no piece explained is UNKNOWN: the causes of each step sum to its idle time. */
void step_windows_close(step_windows *w);

#endif
