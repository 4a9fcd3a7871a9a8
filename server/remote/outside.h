/* A process that is started before the sandbox, and does outside what is not possible inside: it
 * opens the browser, and sees which program holds a socket of this machine (Landlock hides other
 * processes). It answers three questions, one at a time, and ends with us. Without it, each is done
 * in place. Included by server/remote and server/cli. Thread-safe, except for start and end. */
#ifndef VP_REMOTE_OUTSIDE_H
#define VP_REMOTE_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts it; there must be no other thread yet. VP_EIO. */
int outside_start(void);
/* Ends it. Without one, nothing happens. */
void outside_end(void);
bool outside_runs(void);

/* The three questions; only while outside_runs(). */
int outside_open_browser(const char *url); /* browser_open */
pid_t outside_pid(uint64_t socket_inode);  /* tb_listener_pid: 0 for nobody */
/* The working directory of a process, NUL-terminated; VP_ENOTFOUND. */
int outside_directory(char *out, size_t cap, pid_t pid);

#endif
