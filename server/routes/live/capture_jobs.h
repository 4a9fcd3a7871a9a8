/* Captures over the network that this server was asked for: which run, how far each of their
 * processes is, and how they ended. The work is done outside of the sandbox
 * (server/local/outside_capture.h); a thread here hears what comes of it. site.c opens and closes
 * it. Thread-safe. */
#ifndef VP_ROUTES_CAPTURE_JOBS_H
#define VP_ROUTES_CAPTURE_JOBS_H

#include "server/local/outside_capture.h"
#include "server/routes/site/site.h"
#include "trace/base/limits.h"

/* Jobs that are remembered, and how many may begin in CAPTURE_STARTS_MS. */
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
    bool cancelled; /* it was asked to end */
    uint32_t duration_ms;
    char asked[CAPTURE_TARGETS_TEXT];
    char path[VP_PATH_MAX]; /* of its run; "": it has none */
    char error[512];        /* without the directory's path; "": nothing was wrong */
    size_t n;
    capture_target targets[CAPTURE_TARGETS_MAX];
} capture_job;

typedef struct captures captures;

/* Begins to hear, where opts.captures says so and the process runs. */
int captures_open(site *s);
void captures_close(site *s);
/* NULL: captures are possible here; else why not, a sentence's beginning for users. */
const char *captures_refused(const site *s);

/* VP_EARG: the texts make no sense; VP_EREFUSED: nothing can be captured; VP_EBUSY: one of the
 * targets is being captured; VP_ELIMIT: there are too many at once, or lately. */
int captures_begin(site *s, const char *targets, uint32_t duration_ms);
/* VP_ENOTFOUND: there is no such capture. One that has ended stays as it is. */
int captures_cancel(site *s, uint32_t id);

/* A copy of the jobs, the newest first, and of the targets of before. NULL of jobs: there is no
 * memory for them. The caller frees both with vp_free. */
size_t captures_copy(const site *s, capture_job **jobs, capture_targets **known);

#endif
