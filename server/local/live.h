/* Finds the recording programs of this user by their sockets (trace/base/system/live_dir.h). One
 * request line is answered by one line of JSON (docs/control.md). The other process is not
 * trusted: the answer has a maximum length, and only known fields are read. The caller frees the
 * list. */
#ifndef VP_LOCAL_LIVE_H
#define VP_LOCAL_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/base/json.h"
#include "trace/base/limits.h"

/* Maximum number of processes that are queried; each costs a connection. */
#define LIVE_MAX 64u

typedef enum live_state {
    LIVE_IDLE,
    LIVE_ARMED, /* waiting for a step */
    LIVE_RECORDING,
    LIVE_WRITING,
} live_state;

typedef struct live_process {
    pid_t pid;
    char program[64]; /* as the process reports it; can contain any bytes */
    live_state state;
    int64_t steps;              /* so far; 0: none seen */
    int64_t captures;           /* that were written */
    int64_t zones;              /* of the current recording */
    char last_run[VP_PATH_MAX]; /* directory of the last capture; "": none */
    char error[256];            /* error of the last capture, without a path; "": none */
} live_process;

const char *live_state_name(live_state s); /* "idle", "armed", "recording", "writing" */

/* Lists the processes that answer in time, ordered by pid; *n <= LIVE_MAX. Free *out with vp_free;
 * NULL if there are none. Returns 0 or VP_ENOMEM. */
int live_list(live_process **out, size_t *n);

/* Requests a capture of `steps` steps, or if that is 0 of `ms`, or with both 0 of the process's
 * default. VP_ENOTFOUND: no such process; VP_EBUSY: it is already recording; VP_EREMOTE: it
 * refuses, with its reason. */
typedef struct live_request {
    uint64_t steps, ms;
} live_request;
int live_capture(live_process *out, pid_t pid, const live_request *r);

/* Writes the keys of a process into an open object: pid, program, state, steps, captures. */
void live_put_json(vp_json *j, const live_process *p);

/* Parses one answer, for live_list, live_capture and their tests. VP_ECORRUPT: malformed. VP_EBUSY,
 * VP_EREMOTE: a refusal; *out is filled in this case, too. */
int live_parse(live_process *out, const char *line, size_t n);

#endif
