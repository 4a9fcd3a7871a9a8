/* Replays a program: the thread that launches modules works, launches and waits; each device runs
 * what it was given in order (docs/reference/links.md#replay). Replayed unchanged, the program
 * takes its recorded time, up to an error that the caller states. Replayed without a part of the
 * thread's time, it shows what a step takes without that part. The owner frees it. */
#ifndef VP_LINKS_REPLAY_H
#define VP_LINKS_REPLAY_H

#include "trace/links/run_launches.h"

/* A part of the launching thread's time; times as in the trace. */
typedef struct replay_span {
    int64_t start_ps, end_ps;
} replay_span;

typedef enum replay_action { REPLAY_LAUNCH, REPLAY_WAIT } replay_action;

typedef struct replay_item {
    int64_t at_ps;
    replay_action action;
    uint32_t run;       /* launched, or waited for: index in run_launches.run */
    int64_t resumes_ps; /* of a wait: the end of the run */
} replay_item;

typedef struct replay {
    const run_launches *runs;
    uint32_t track;            /* the thread that launches most runs */
    int64_t from_ps, until_ps; /* what is replayed of the thread */
    int64_t recorded_ps;       /* from from_ps until thread and devices were done */
    replay_item *item;         /* by at_ps */
    size_t count, cap;
    uint32_t queues;  /* devices */
    uint32_t *queue;  /* by run: its device, 0 to queues-1 */
    int64_t *run_end; /* by run: its end in the last replay, after from_ps */
    int64_t *free_ps; /* by device, two each: end of its last run, replayed and recorded */
} replay;

/* Prepares the replay of [from, until). is_wait: by kind, events that wait for a device. *out is
 * NULL if another thread launches runs too, or launches are unknown: then nothing can be replayed.
 * Keeps pointers to both. VP_ENOMEM, VP_ELIMIT. */
int replay_new(replay **out, const trace *t, const run_launches *r, const uint8_t *is_wait,
               int64_t from_ps, int64_t until_ps);
void replay_free(replay *r);

/* Time from from_ps until thread and devices are done. without: disjoint parts of the thread, by
 * time, that do not happen: neither their work nor their launches and waits. waits: false: the
 * thread waits for nothing. Both at once are allowed. O(items + parts). */
int64_t replay_time(replay *r, const replay_span *without, size_t count, bool waits);

#endif
