/* A child process: this program with another command line, or a program of the user. It is started
 * by argv, never through a shell, in its own process group, so that Ctrl-C reaches it only through
 * this process. It inherits only the descriptors that are given. The caller owns it until
 * watch_child_reap returns true. */
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
    int64_t term_at_ms; /* CLOCK_MONOTONIC: time of SIGTERM; SIGKILL follows 10 s later */
    bool told;
    char said[512]; /* its last line on stderr that began with "view_profile: ", without this prefix
                     */
    vp_buf lines, errors; /* read and not yet consumed */
    size_t most;          /* maximum bytes of buffered lines */
    size_t taken;         /* bytes of the line that watch_child_line returned last */
} watch_child;

/* argv[0] NULL: this program. `piped`: standard output is read by watch_child_line, else it goes to
 * stderr. `env`: NAME=VALUE strings in addition to the environment, NULL-terminated, or NULL. */
int watch_child_start(watch_child *c, const char *const *argv, bool piped, const char *const *env,
                      int64_t allowed_ms);
/* Sets the maximum of unread standard output; default 256 KiB. */
void watch_child_most(watch_child *c, size_t bytes);
/* Reads available output. */
void watch_child_read(watch_child *c);
/* Returns the next complete line of standard output; false: none. Valid until the next call. */
bool watch_child_line(watch_child *c, vp_str *line);
/* Reaps the child: true once, after it has exited. Its last lines can then be read. */
bool watch_child_reap(watch_child *c);
/* Sends SIGTERM; a later call sends SIGKILL. */
void watch_child_end(watch_child *c, int64_t now_ms);
void watch_child_free(watch_child *c);

#endif
