/* Restricts file access of this process and its children with Landlock (Linux 5.13). After
 * sandbox_enter() they can write only below the given paths, and optionally read only there.
 * Existing threads are not restricted, so call it first. It uses raw system calls and needs no
 * privilege.
 *
 * The viewer (server/cli, server/local) and the fetcher use it. TensorBoard runs inside the sandbox
 * of the viewer. It may be installed anywhere, so reading is restricted only if --ui excludes
 * TensorBoard. The library never restricts the process that it is linked into. */
#ifndef VP_BASE_SANDBOX_H
#define VP_BASE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

typedef enum sandbox_right {
    SANDBOX_LIST,   /* list directories beneath the path */
    SANDBOX_READ,   /* also read and execute files */
    SANDBOX_WRITE,  /* also create, change and remove files and directories */
    SANDBOX_FILE,   /* the path is a file; read and write it */
    SANDBOX_SOCKET, /* create sockets in this directory, and remove files from it */
} sandbox_right;

typedef struct sandbox_path {
    const char *path; /* a path that does not exist is skipped */
    sandbox_right right;
} sandbox_path;

/* The Landlock ABI of the kernel, from 1 up; 0: not available or disabled. */
int sandbox_abi(void);
/* reads: restrict reading to the paths, too. VP_EUNSUPPORTED: no Landlock, and nothing has changed.
 * VP_EIO: refused by the kernel. */
int sandbox_enter(const sandbox_path *paths, size_t n, bool reads);

#endif
