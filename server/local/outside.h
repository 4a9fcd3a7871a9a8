/* Two helper processes that are forked before the sandbox is enabled. One opens the browser once
 * and exits; it receives a page and builds the URL itself, so a compromised server can do nothing
 * else with it. The other looks up which program owns a socket, because Landlock hides other
 * processes. Neither can gain privileges, and both exit with the server. Without them, the work is
 * done in the calling process. Thread-safe, except for start and end.
 *
 * The browser process does not exist with --no-browser. A browser that needs a setuid helper (a
 * snap that is not running yet) cannot be started from it; the URL is printed instead. */
#ifndef VP_LOCAL_OUTSIDE_H
#define VP_LOCAL_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "server/local/browser.h"

typedef enum outside_kind { OUTSIDE_BROWSER, OUTSIDE_LOOKUP, OUTSIDE_KINDS } outside_kind;

/* Starts it; must be called before any thread is created. VP_EIO. */
int outside_start(outside_kind kind);
/* Ends it; no effect if it is not running. */
void outside_end(outside_kind kind);
bool outside_runs(outside_kind kind);

/* Opens a page of the server; the process then exits. VP_EREFUSED: not a page of a viewer. */
int outside_open_browser(const browser_page *page);

/* Like proc_socket_pid, through the lookup process. */
pid_t outside_pid(uint64_t socket_inode);
/* The working directory of a process, NUL-terminated; VP_ENOTFOUND. */
int outside_directory(char *out, size_t cap, pid_t pid);

#endif
