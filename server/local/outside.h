/* Processes that are started before the sandbox, and do outside what is not possible inside. One
 * opens the browser, once, and ends; it is told which page, never what to run or to open: whoever
 * gets hold of the server gets nothing else from it. The other sees which program holds a socket of
 * this machine (Landlock hides other processes). Neither may gain rights. Both end with us; where
 * one was not started, what it does is done in place. Thread-safe, except for start and end.
 *
 * The first makes the address itself, of port, view and session, and does not exist with
 * --no-browser. A browser that needs a setuid helper to start (a snap, where none runs yet) does
 * not start from there: the address is printed. */
#ifndef VP_LOCAL_OUTSIDE_H
#define VP_LOCAL_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "server/local/browser.h"

typedef enum outside_kind { OUTSIDE_BROWSER, OUTSIDE_LOOKUP, OUTSIDE_KINDS } outside_kind;

/* Starts it; there must be no other thread yet. VP_EIO. */
int outside_start(outside_kind kind);
/* Ends it. Without one, nothing happens. */
void outside_end(outside_kind kind);
bool outside_runs(outside_kind kind);

/* Opens a page of ours, after which the process has ended. VP_EREFUSED: such a page has no address.
 */
int outside_open_browser(const browser_page *page);

/* Only while the other runs. As proc_socket_pid. */
pid_t outside_pid(uint64_t socket_inode);
/* The working directory of a process, NUL-terminated; VP_ENOTFOUND. */
int outside_directory(char *out, size_t cap, pid_t pid);

#endif
