/* Threads of a program without devices: work, waits, and the zone that made a step longer than the
 * others. Rows go into the host's result.
 *
 * Without devices, processes take the role of devices in the report, and separate rules (F25 to
 * F29) use these rows. Work is self time outside of waiting zones (wait_names.c). The cause of a
 * long step is the zone that exceeds its median over all steps the most (step_growth.c). */
#ifndef VP_ANALYZE_THREADS_H
#define VP_ANALYZE_THREADS_H

#include "trace/analyze/result/analysis.h"

typedef enum wait_kind {
    WAIT_NONE,
    WAIT_IDLE, /* waits for work, unless it is inside another zone: condition, poll, recv */
    WAIT_ANY,  /* sleep, join, barrier */
    WAIT_LOCK, /* waits for a lock */
} wait_kind;

/* Fills h->threads. */
int threads_collect(analysis *a);

/* The kind of wait of a zone, by its name, or else by its category. */
wait_kind wait_kind_of(vp_str name, vp_str category);

/* Collects which zones grew in which step (step_growth.c): self time by step and zone, on the step
 * thread and on the others of its process. */
typedef struct grown grown;
int grown_new(grown **out, const analysis *a, const uint8_t *waits);
void grown_free(grown *g);
/* Takes the self time of one track, in order of time. No piece crosses the start of another event.
 */
int grown_track(grown *g, uint32_t track);
int grown_add(grown *g, uint32_t kind, int64_t start, int64_t end);
/* Sets `grew` of the steps in h->steps.list. callers: zone_callers.h. */
int grown_finish(grown *g, const uint32_t *callers);

#endif
