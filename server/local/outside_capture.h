/* A helper process that is forked before the sandbox is enabled and captures outside of it. It
 * runs this program's own `capture` into the single directory that was given at start. A request
 * contains only HOST:PORT targets and a duration, and both are validated, so a compromised server
 * can do nothing else with it. It returns every line of the captures, stores the targets that
 * answered, and cannot gain privileges. Thread-safe, except for start and end. */
#ifndef VP_LOCAL_OUTSIDE_CAPTURE_H
#define VP_LOCAL_OUTSIDE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "server/local/capture_targets.h"

/* Maximum number of simultaneous captures, maximum duration of each in ms, and maximum bytes of a
 * line. */
#define CAPTURE_JOBS_MAX 4u
#define CAPTURE_MS_MAX 60000u
#define CAPTURE_LINE_MAX (32u << 10)

typedef struct capture_event {
    uint32_t job;
    bool ended;    /* last message of this job; text: the error, "": none */
    int exit_code; /* in that case; 128 + the signal that ended it */
    char text[CAPTURE_LINE_MAX];
} capture_event;

/* Returns NULL if captures can be written to dir (a writable local directory), and sets out
 * (VP_PATH_MAX bytes) to its absolute path. Otherwise returns the reason for users, a constant. */
const char *outside_capture_place(char *out, const char *dir);
/* Starts it; must be called before any thread is created. program: path of view_profile. dir is
 * absolute. VP_EIO. */
int outside_capture_start(const char *dir, const char *program);
bool outside_capture_runs(void);
/* Stops the captures, which keep received data; outside_capture_hear then returns in its thread. */
void outside_capture_hush(void);
/* Stops it and waits for its end; no effect if it is not running. */
void outside_capture_end(void);

/* job: a new number other than 0. VP_EIO: the process has exited. */
int outside_capture_begin(uint32_t job, const char *targets, uint32_t duration_ms);
int outside_capture_cancel(uint32_t job);
/* Waits for the next message. VP_EIO: no more messages. */
int outside_capture_hear(capture_event *out);

#endif
