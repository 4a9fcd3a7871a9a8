/* Gives rights away (Landlock, Linux 5.13): from sandbox_enter() on this process and what it starts
 * can write only where it said, and read only there too if it said so. For threads that exist
 * already nothing changes, so it is called first. Raw system calls; no privilege is needed.
 * Programs include this: the viewer (server/cli, server/local) and the one that fetches.
 *
 * TensorBoard runs inside: it may write where we may. It may be installed anywhere, so reading is
 * only restricted where --ui rules it out. The library does not restrict the process that it is
 * linked into. */
#ifndef VP_BASE_SANDBOX_H
#define VP_BASE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

typedef enum sandbox_right {
    SANDBOX_LIST,   /* directories may be listed, beneath the path */
    SANDBOX_READ,   /* and files read, and run */
    SANDBOX_WRITE,  /* and everything else: files and directories made, changed, removed */
    SANDBOX_FILE,   /* the path is a file that may be read and written */
    SANDBOX_SOCKET, /* sockets may be made in this directory, and files removed from it */
} sandbox_right;

typedef struct sandbox_path {
    const char *path; /* one that does not exist needs no right and is skipped */
    sandbox_right right;
} sandbox_path;

/* What the kernel offers: its Landlock ABI from 1 up; 0: none, or switched off. */
int sandbox_abi(void);
/* reads: reading is restricted to the paths, too. VP_EUNSUPPORTED: no Landlock here, and nothing
 * has changed. VP_EIO: refused. */
int sandbox_enter(const sandbox_path *paths, size_t n, bool reads);

#endif
