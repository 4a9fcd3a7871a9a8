/* A child process: this same program with another command line, or a program of the user's. It is
 * started by its argv, never by a shell, in a process group of its own, so that Ctrl-C reaches it
 * only through us, and inherits no descriptor but those that are named here. Files of this room
 * include it; the caller owns the child until watch_child_reap said true. */
#ifndef VP_WATCH_CHILD_H
#define VP_WATCH_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/base/buf.h"

typedef struct watch_child {
    pid_t pid; /* 0: none */
    int out, err;
    int code;           /* exit code, or 128 + the signal */
    int64_t term_at_ms; /* CLOCK_MONOTONIC: when it is told to end, and 10 s later is killed */
    bool told;
    char said[512]; /* its last line on stderr that began with "view_profile: ", without that */
    vp_buf lines, errors; /* what is read and not yet used */
    size_t most;          /* bytes of lines that are kept */
    size_t taken;         /* bytes of lines that watch_child_line gave last */
} watch_child;

/* argv[0] NULL: this program. `piped`: standard output is read by watch_child_line, else it goes
 * to our stderr. `env`: NAME=VALUE texts beside our own environment, NULL-terminated, or NULL. */
int watch_child_start(watch_child *c, const char *const *argv, bool piped, const char *const *env,
                      int64_t allowed_ms);
/* Keeps so many bytes of standard output that nobody has taken; otherwise 256 KiB. */
void watch_child_most(watch_child *c, size_t bytes);
/* Reads what is there. */
void watch_child_read(watch_child *c);
/* Takes the next whole line of standard output; false: there is none. Valid until the next call. */
bool watch_child_line(watch_child *c, vp_str *line);
/* Buries it: true once, when it has ended. Its last lines can then be taken. */
bool watch_child_reap(watch_child *c);
/* Asks it to end; again later: makes it. */
void watch_child_end(watch_child *c, int64_t now_ms);
void watch_child_free(watch_child *c);

#endif
