/* One round of a job: capture, report, compare, the user's program if it became slower, and the
 * upload if --out is an address. A round owns its child process. */
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
    watch_status outcome; /* during the upload: result of the stages before */
    char run[WATCH_RUN_MAX], code[24];
    char problem[WATCH_ERROR_MAX];       /* of the capture */
    bool have, stopping;                 /* have: bytes came */
    char *cost;                          /* overhead of the capture; NULL: unknown */
    char a[VP_PATH_MAX], b[VP_PATH_MAX]; /* what is compared */
    const char *whole;                   /* the address of a, with secrets; NULL: none */
} watch_round;

void watch_round_init(watch_round *r, size_t slot, const watch_options *o, const watch_store *s,
                      watch_jobs *all);
void watch_round_start(watch_round *r, watch_job *j);
/* Called after output of the child, or periodically. true: the round has ended. */
bool watch_round_go_on(watch_round *r, int64_t now_ms);
/* Tells the child to end; its data is kept. */
void watch_round_stop(watch_round *r);
void watch_round_free(watch_round *r);

#endif
