/* Idle time of steps by cause: parts of gaps that overlap a device's step windows. Values go into
 * packed steps. */
#ifndef VP_ANALYZE_STEP_IDLE_H
#define VP_ANALYZE_STEP_IDLE_H

#include "trace/analyze/idle/idle.h"

typedef struct step_idle {
    const step_windows *windows; /* of the device; NULL without steps */
    size_t at;
    int64_t cause_ps[VP_CAUSES];   /* of window `at`: pieces are disjoint, as windows are */
    packed_steps_reader breakdown; /* of the windows from there on */
    packed_steps_writer causes;    /* of those before */
} step_idle;

/* Prepares only for step_idle_extent. */
step_idle step_idle_of(const analysis *a, uint32_t device);
/* Opens it for pieces, too; must be closed. */
void step_idle_open(step_idle *s, const packed_steps *packed, uint32_t device);
/* The range of the device's steps; false without any. */
bool step_idle_extent(const step_idle *s, int64_t *start, int64_t *end);
/* Adds a piece; call it in the order of the pieces, after opening. VP_ENOMEM. */
int step_idle_add(step_idle *s, const idle_piece *p);
/* Packs the causes of the device's steps, or drops them if rc < 0, which means that some are
 * missing. Time without a piece is UNKNOWN, so the causes of each step add up to its idle time.
 * Returns rc, or VP_ENOMEM. */
int step_idle_close(step_idle *s, packed_steps *packed, uint32_t device, int rc);

#endif
