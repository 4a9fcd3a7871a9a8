/* One round of one job: capture, report, compare, where it became slower the user's program, and
 * where --out is an address the way there.
 * Files of this room include it; a round owns its child. */
#ifndef VP_WATCH_ROUND_H
#define VP_WATCH_ROUND_H

#include "server/watch/watch_child.h"
#include "server/watch/watch_job.h"
#include "server/watch/watch_store.h"

#define WATCH_RUN_MAX 200u

typedef enum watch_stage {
    ROUND_IDLE,
    ROUND_CAPTURE,
    ROUND_REPORT,
    ROUND_COMPARE,
    ROUND_HOOK,
    ROUND_DELIVER
} watch_stage;

typedef struct watch_round {
    const watch_options *o;
    const watch_store *s;
    watch_jobs *all;
    watch_job *job; /* NULL: free */
    watch_stage stage;
    watch_child child;
    char slot[16];        /* names its scratch files */
    watch_status outcome; /* while it delivers: of what came before */
    char run[WATCH_RUN_MAX], code[24];
    char problem[WATCH_ERROR_MAX];       /* of the capture */
    bool have, stopping;                 /* have: bytes came */
    char *cost;                          /* what the capture cost, NULL: unknown */
    char a[VP_PATH_MAX], b[VP_PATH_MAX]; /* what is compared */
    const char *whole;                   /* the address a lies at, as it was typed; NULL: none */
} watch_round;

void watch_round_init(watch_round *r, size_t slot, const watch_options *o, const watch_store *s,
                      watch_jobs *all);
void watch_round_start(watch_round *r, watch_job *j);
/* After something was heard of the child, or a moment. true: the round has ended and the job is
 * settled. */
bool watch_round_go_on(watch_round *r, int64_t now_ms);
/* The child is told to end; what it still brings is kept. */
void watch_round_stop(watch_round *r);
void watch_round_free(watch_round *r);

#endif
