/* A process that is started before the sandbox and captures outside of it: it runs this program's
 * own `capture` into the one directory that was named when it was started. It is told which
 * HOST:PORTs and for how long, and checks both; whoever gets hold of the server gets nothing else
 * from it. It gives every line of the captures back, keeps the targets that answered, and can gain
 * no rights. server/cli starts and ends it.
 *
 * One thread hears; the others may begin and cancel at any time. Where it does not run, nothing
 * can be captured. */
#ifndef VP_LOCAL_OUTSIDE_CAPTURE_H
#define VP_LOCAL_OUTSIDE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "server/local/capture_targets.h"

/* Captures at once, how long each may last, in ms, and bytes of a line. */
#define CAPTURE_JOBS_MAX 4u
#define CAPTURE_MS_MAX 60000u
#define CAPTURE_LINE_MAX (32u << 10)

typedef struct capture_event {
    uint32_t job;
    bool ended;    /* the last of this job; text: what was wrong, "": nothing was said */
    int exit_code; /* then; 128 + the signal that ended it */
    char text[CAPTURE_LINE_MAX];
} capture_event;

/* NULL: captures can land in dir, a directory of this machine to which we may write, and out
 * (VP_PATH_MAX) is its absolute path. Else why not, a constant, for users. */
const char *outside_capture_place(char *out, const char *dir);
/* Starts it; there must be no other thread yet. program: view_profile's path. dir is absolute.
 * VP_EIO. */
int outside_capture_start(const char *dir, const char *program);
bool outside_capture_runs(void);
/* Captures end, what came is kept, and outside_capture_hear ends in the thread that is in it. */
void outside_capture_hush(void);
/* Hushes it and waits for its end. Without one, nothing happens. */
void outside_capture_end(void);

/* job: any number but 0, not used before. VP_EIO: it is gone. */
int outside_capture_begin(uint32_t job, const char *targets, uint32_t duration_ms);
int outside_capture_cancel(uint32_t job);
/* Waits for what is said next. VP_EIO: nothing more comes. */
int outside_capture_hear(capture_event *out);

#endif
