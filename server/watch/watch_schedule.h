/* When a job is captured next. Files of this room include it; it knows no clock and no job. */
#ifndef VP_WATCH_SCHEDULE_H
#define VP_WATCH_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct watch_pace {
    int64_t every_ms, duration_ms;
    bool busy;         /* somebody else captures there: soon again */
    unsigned in_a_row; /* rounds that brought nothing: each doubles the wait, up to a bound */
} watch_pace;

/* The wait from the start of one round to that of the next, in ms: with up to a tenth more or less,
 * which `random` decides, so that many jobs are not captured in one beat. */
int64_t watch_wait_ms(const watch_pace *p, uint32_t random);
/* When the next round is due, of one that started then; both by CLOCK_MONOTONIC, which no timezone
 * and nobody sets. Not before now: what was missed is not made up for. */
int64_t watch_due_ms(const watch_pace *p, uint32_t random, int64_t started_ms, int64_t now_ms);

#endif
