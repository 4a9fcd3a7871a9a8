/* Computes the time of a job's next capture. Independent of clocks and jobs. */
#ifndef VP_WATCH_SCHEDULE_H
#define VP_WATCH_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct watch_pace {
    int64_t every_ms, duration_ms;
    bool busy; /* another client is capturing: retry soon */
    unsigned
        in_a_row; /* consecutive rounds without a capture: each doubles the wait, up to a limit */
} watch_pace;

/* Interval between the starts of two rounds, in ms, randomized by up to 10% with `random`, so that
 * many jobs are not captured at the same time. */
int64_t watch_wait_ms(const watch_pace *p, uint32_t random);
/* Due time of the next round after one that started at the given time; both by CLOCK_MONOTONIC,
 * which is not affected by clock changes. Not before now: missed rounds are not repeated. */
int64_t watch_due_ms(const watch_pace *p, uint32_t random, int64_t started_ms, int64_t now_ms);

#endif
