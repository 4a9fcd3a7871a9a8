/* Supervises a child program for the lifetime of this process. A thread starts it by argv (never
 * through a shell), keeps the last lines of its output, reaps it and optionally restarts it. The
 * child inherits only /dev/null and the pipe of its output, and the kernel sends it SIGTERM when
 * this process ends, even if it is killed. The caller owns the child and frees it with child_free.
 *
 * The thread lives as long as the program, because the kernel sends that signal when the thread
 * that forked exits. */
#ifndef VP_LOCAL_CHILD_H
#define VP_LOCAL_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of output that are kept; the last lines explain why a program exited. */
#define CHILD_LOG_MAX 4096u

typedef struct child child;

typedef struct child_status {
    bool running;            /* or about to be started again */
    int exit_code;           /* after it exited: the exit code, or 128 + the signal */
    unsigned restarts;       /* number of restarts */
    int64_t started_ms;      /* CLOCK_MONOTONIC, of the current process */
    char log[CHILD_LOG_MAX]; /* its last output, whole lines, NUL-terminated, raw bytes */
} child_status;

/* Starts argv[0], which must be a path (see child_find). Copies argv. VP_EIO: cannot start it. */
int child_start(child **out, const char *const *argv);
void child_look(child *c, child_status *status);
/* Enables restarts when it exits by itself, at most 5 times in a row. */
void child_keep(child *c);
/* Sends SIGTERM to its process group, SIGKILL after 3 s, and waits for its end. NULL is allowed. */
void child_stop(child *c);

/* Finds an executable in PATH; a name with '/' is used as it is. out has VP_PATH_MAX bytes.
 * VP_ENOTFOUND. */
int child_find(char *out, const char *name);

#endif
