/* Looks up in /proc which process holds a socket, and the working directory of a process. Landlock
 * hides other processes inside the sandbox, so outside.h calls this in a helper process.
 * Thread-safe. */
#ifndef VP_LOCAL_PROC_LOOKUP_H
#define VP_LOCAL_PROC_LOOKUP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The process that holds the socket; 0 if unknown or permission is denied. */
pid_t proc_socket_pid(uint64_t socket_inode);
/* The working directory of a process, NUL-terminated and truncated at cap; VP_ENOTFOUND, and then
 * "". */
int proc_directory(char *out, size_t cap, pid_t pid);

#endif
