/* A program that runs as long as we do. A thread of its own starts it by its argv (never a shell),
 * keeps the last lines that it printed, buries it and, where that is wanted, starts it again. It
 * inherits no descriptor but /dev/null and the pipe of its output; the kernel sends it SIGTERM when
 * we end, even when we are killed. Only server/local includes this.
 *
 * The thread lives as long as the program that it starts, because the kernel sends that signal when
 * the thread which forked ends. */
#ifndef VP_LOCAL_CHILD_H
#define VP_LOCAL_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of output that are kept: the last lines say why a program ended. */
#define CHILD_LOG_MAX 4096u

typedef struct child child;

typedef struct child_status {
    bool running;            /* or about to be started again */
    int exit_code;           /* after its end: the exit code, or 128 + the signal */
    unsigned restarts;       /* how often it was started again */
    int64_t started_ms;      /* CLOCK_MONOTONIC, of the present process */
    char log[CHILD_LOG_MAX]; /* its last output, whole lines, NUL-terminated, raw bytes */
} child_status;

/* Starts argv[0], which must be a path (see child_find). argv is copied. VP_EIO: it cannot be
 * started. */
int child_start(child **out, const char *const *argv);
void child_look(child *c, child_status *status);
/* From now on it is started again when it ends by itself: at most 5 times in a row. */
void child_keep(child *c);
/* SIGTERM to it and whatever it started, SIGKILL after 3 s; waits for its end. NULL is fine. */
void child_stop(child *c);

/* Looks for an executable in PATH (or takes a name with '/' as it is): its path in out of
 * VP_PATH_MAX bytes. VP_ENOTFOUND. */
int child_find(char *out, const char *name);

#endif
