/* Programs of this user that run now and can be told to record: found by their sockets
 * (trace/base/system/live_dir.h) and asked by one line each, which is answered by one line of JSON
 * (docs/man/view_profile-record.1.md). Whoever answers is another process: its words are bounded,
 * and only what is understood is taken over. */
#ifndef VP_LOCAL_LIVE_H
#define VP_LOCAL_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/base/json.h"
#include "trace/base/limits.h"

/* More at once are not looked at: a socket costs a connection each time. */
#define LIVE_MAX 64u

typedef enum live_state {
    LIVE_IDLE,
    LIVE_ARMED, /* waits for a step */
    LIVE_RECORDING,
    LIVE_WRITING,
} live_state;

typedef struct live_process {
    pid_t pid;
    char program[64]; /* its name as it says; may hold any bytes */
    live_state state;
    int64_t steps;              /* so far; 0: none was seen */
    int64_t captures;           /* that were written */
    int64_t zones;              /* of the recording that is on */
    char last_run[VP_PATH_MAX]; /* the directory of the last capture; "": none */
    char error[256];            /* what went wrong with it, without a path; "": nothing */
} live_process;

const char *live_state_name(live_state s); /* "idle", "armed", "recording", "writing" */

/* Those that answer, by pid; *n <= LIVE_MAX. out is freed with vp_free; NULL when there are none.
 * What does not answer in time is left out. 0 or VP_ENOMEM. */
int live_list(live_process **out, size_t *n);

/* Asks one to capture: steps, or when that is 0 for ms, or when that is 0 too as it thinks best.
 * VP_ENOTFOUND: no such process; VP_EBUSY: it records already; VP_EREMOTE: it says no, and why. */
typedef struct live_request {
    uint64_t steps, ms;
} live_request;
int live_capture(live_process *out, pid_t pid, const live_request *r);

/* The keys of one in an open object: pid, program, state, steps, captures. */
void live_put_json(vp_json *j, const live_process *p);

/* One answer, for live_list, live_capture and their tests. VP_ECORRUPT: it is none. VP_EBUSY,
 * VP_EREMOTE: it is a refusal; *out is filled then, too. */
int live_parse(live_process *out, const char *line, size_t n);

#endif
