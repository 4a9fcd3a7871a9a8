/* Network captures that were requested from this server: their run, the progress of each process,
 * and their result. The work is done outside of the sandbox (server/local/outside_capture.h); a
 * thread reads its output. site.c opens and closes it. Thread-safe. */
#ifndef VP_ROUTES_CAPTURE_JOBS_H
#define VP_ROUTES_CAPTURE_JOBS_H

#include "server/local/outside_capture.h"
#include "server/routes/site/site.h"
#include "trace/base/limits.h"

/* Number of remembered jobs, and of jobs that can start within CAPTURE_STARTS_MS. */
#define CAPTURES_KEPT 16u
#define CAPTURE_STARTS_MAX 20u
#define CAPTURE_STARTS_MS 60000

typedef enum capture_state {
    CAPTURE_RUNNING,
    CAPTURE_DONE,
    CAPTURE_FAILED,
    CAPTURE_CANCELLED,
} capture_state;

typedef struct capture_target {
    char name[272], state[16], code[16], error[256]; /* "": none */
    int64_t bytes, left_ms;
} capture_target;

typedef struct capture_job {
    uint32_t id;
    capture_state state;
    bool cancelled; /* stop requested */
    uint32_t duration_ms;
    char asked[CAPTURE_TARGETS_TEXT];
    char path[VP_PATH_MAX]; /* id of its run; "": none */
    char error[512];        /* error without the path of the directory; "": none */
    size_t n;
    capture_target targets[CAPTURE_TARGETS_MAX];
} capture_job;

typedef struct captures captures;

/* Starts reading the output of the capture process, if opts.captures is set. */
int captures_open(site *s);
void captures_close(site *s);
/* NULL: captures are possible; else the reason, for users. */
const char *captures_refused(const site *s);

/* VP_EARG: invalid targets; VP_EREFUSED: captures are not possible; VP_EBUSY: a target is being
 * captured; VP_ELIMIT: too many captures. */
int captures_begin(site *s, const char *targets, uint32_t duration_ms);
/* VP_ENOTFOUND: no such capture. No effect on one that has ended. */
int captures_cancel(site *s, uint32_t id);

/* Copies the jobs, newest first, and the earlier targets. NULL jobs: out of memory. The caller
 * frees both with vp_free. */
size_t captures_copy(const site *s, capture_job **jobs, capture_targets **known);

#endif
