#include "trace/source/fetcher.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/system/own_program.h"
#include "trace/source/fetch_wire.h"

extern char **environ;

struct fetcher {
    pid_t pid;
    int control;
};

/* ---- Starting -------------------------------------------------------------------------------- */

/* The child's descriptor 3 is `its`; signals that our threads block or ignore have their
 * defaults. */
static int spawn_fetcher(pid_t *pid, const char *path, int its)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none, all;
    char *argv[] = {(char *)(uintptr_t)FETCHER_PROGRAM, NULL};
    sigemptyset(&none);
    sigemptyset(&all);
    sigaddset(&all, SIGPIPE);
    sigaddset(&all, SIGINT);
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc)
        return rc;
    rc = posix_spawnattr_init(&attr);
    if (!rc) {
        (void)posix_spawnattr_setsigmask(&attr, &none);
        (void)posix_spawnattr_setsigdefault(&attr, &all);
        /* Ctrl-C is handled by the parent, which then decides about the child. */
        (void)posix_spawnattr_setpgroup(&attr, 0);
        (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                  POSIX_SPAWN_SETPGROUP);
        rc = posix_spawn_file_actions_adddup2(&actions, its, 3);
        if (!rc)
            rc = posix_spawn(pid, path, &actions, &attr, argv, environ);
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

int fetcher_start(fetcher **out)
{
    char path[VP_PATH_MAX];
    int ends[2], rc;
    VP_TRY(vp_own_program(path, FETCHER_PROGRAM));
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return vp_fail(VP_EIO, "cannot create a socket pair: %s", strerror(errno));
    fetcher *f = vp_calloc(1, sizeof *f);
    /* dup2 of a descriptor onto itself would keep it close-on-exec. */
    int its = ends[1] == 3 ? fcntl(ends[1], F_DUPFD_CLOEXEC, 4) : ends[1];
    rc = f && its >= 0 ? spawn_fetcher(&f->pid, path, its) : ENOMEM;
    close(ends[1]);
    if (its != ends[1])
        vp_fs_close(&its);
    if (rc) {
        close(ends[0]);
        vp_free(f);
        vp_fail(VP_EIO, "cannot start: %s", strerror(rc));
        return vp_fail_at(VP_EIO, path, -1, -1);
    }
    f->control = ends[0];
    *out = f;
    return 0;
}

void fetcher_end(fetcher *f)
{
    if (!f)
        return;
    close(f->control); /* the child ends when no request is possible any more */
    while (waitpid(f->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    vp_free(f);
}

/* ---- Requests ---- */

static int send_question(int control, vp_str question, const int *fds, size_t n)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * (1 + FETCH_FILES_MAX))];
        struct cmsghdr align;
    } u;
    memset(&u, 0, sizeof u);
    struct iovec v = {(void *)(uintptr_t)question.p, question.n};
    struct msghdr m = {.msg_iov = &v,
                       .msg_iovlen = 1,
                       .msg_control = u.bytes,
                       .msg_controllen = CMSG_SPACE(sizeof(int) * n)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int) * n);
    memcpy(CMSG_DATA(c), fds, sizeof(int) * n);
    ssize_t sent;
    do
        sent = sendmsg(control, &m, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)question.n
               ? 0
               : vp_fail(VP_EIO, "view_profile-fetch has exited: %s", strerror(errno));
}

int fetcher_ask(fetcher *f, vp_str question, const int *files, size_t n, int *stream)
{
    int fds[1 + FETCH_FILES_MAX], ends[2];
    if (question.n > FETCH_ASK_MAX || n > FETCH_FILES_MAX)
        return vp_fail(VP_EARG, "request too large: %zu bytes and %zu files", question.n, n);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return vp_fail(VP_EIO, "cannot create a socket pair: %s", strerror(errno));
    fds[0] = ends[1];
    for (size_t i = 0; i < n; i++)
        fds[1 + i] = files[i];
    int rc = send_question(f->control, question, fds, n + 1);
    close(ends[1]);
    if (rc < 0) {
        close(ends[0]);
        return rc;
    }
    *stream = ends[0];
    return 0;
}

int fetcher_source(void *ctx, vp_str question, const int *files, size_t n, int *stream)
{
    return fetcher_ask(ctx, question, files, n, stream);
}
