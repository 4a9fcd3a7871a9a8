/* What /proc tells of other processes of this machine: who holds a socket, and where somebody
 * works. It is looked up in place, which Landlock permits outside of the sandbox only: outside.h
 * has it done there. Only server/local includes this. Thread-safe. */
#ifndef VP_LOCAL_PROC_LOOKUP_H
#define VP_LOCAL_PROC_LOOKUP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The process that holds the socket, if we may look into it; 0 otherwise. */
pid_t proc_socket_pid(uint64_t socket_inode);
/* The working directory of a process, NUL-terminated and cut at cap; VP_ENOTFOUND, and then "". */
int proc_directory(char *out, size_t cap, pid_t pid);

#endif
