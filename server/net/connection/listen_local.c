/* Sockets without a network address: at a path, or opened by a service manager before the start
 * (sd_listen_fds(3)). */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "server/net/connection/listen.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/mem.h"
#include "trace/base/str.h"

#define BACKLOG 128
/* The first descriptor that a service manager passes. */
#define FIRST_INHERITED 3

/* ---- At a path ------------------------------------------------------------------------------ */

static int set_path(struct sockaddr_un *a, const char *path)
{
    size_t n = strlen(path);
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (!n || n >= sizeof a->sun_path)
        return vp_fail(VP_EARG, "the path of a socket must have 1 to %zu bytes; '%.60s…' has %zu",
                       sizeof a->sun_path - 1, path, n);
    memcpy(a->sun_path, path, n);
    return 0;
}

/* Removes a socket without a listening server. VP_EBUSY otherwise. */
static int remove_stale(const struct sockaddr_un *a)
{
    VP_CLEANUP(vp_fs_close) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct stat st;
    if (lstat(a->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
        return vp_fail(VP_EBUSY, "%s exists and is not a socket", a->sun_path);
    if (fd < 0 || !connect(fd, (const struct sockaddr *)a, sizeof *a) || errno != ECONNREFUSED)
        return vp_fail(VP_EBUSY, "another server is listening at %s", a->sun_path);
    if (unlink(a->sun_path) < 0)
        return vp_fail(VP_EBUSY, "cannot remove the stale socket %s: %s", a->sun_path,
                       strerror(errno));
    return 0;
}

/* Linux gives the file the mode of the socket's own inode. So other users can never connect in
 * between, and the umask of the process is not changed. */
static int bind_private(int fd, const struct sockaddr_un *a)
{
    if (fd < 0 || fchmod(fd, 0600) < 0)
        return errno;
    return bind(fd, (const struct sockaddr *)a, sizeof *a) < 0 ? errno : 0;
}

int http_listen_unix(http_sockets *out, const char *path)
{
    struct sockaddr_un a;
    struct stat st;
    VP_TRY(set_path(&a, path));
    VP_CLEANUP(vp_free_ptr) char *copy = vp_strdup(path);
    VP_CLEANUP(vp_fs_close) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    VP_NEED(copy);
    int e = bind_private(fd, &a);
    if (e == EADDRINUSE) {
        VP_TRY(remove_stale(&a));
        e = bind_private(fd, &a);
    }
    if (e || listen(fd, BACKLOG) < 0 || stat(path, &st) < 0)
        return vp_fail(VP_EBUSY, "cannot listen at %s: %s", path, strerror(e ? e : errno));
    *out = (http_sockets){.fds = {vp_fs_take(&fd), -1, -1, -1},
                          .count = 1,
                          .path = copy,
                          .dev = st.st_dev,
                          .ino = st.st_ino};
    copy = NULL;
    return 0;
}

/* ---- Inherited ------------------------------------------------------------------------------ */

static bool env_number(const char *name, uint64_t max, uint64_t *out)
{
    const char *text = getenv(name);
    return text && vp_str_to_u64(vp_str_of(text), out) && *out <= max;
}

static bool has_option(int fd, int option, int want)
{
    int value;
    socklen_t n = sizeof value;
    return !getsockopt(fd, SOL_SOCKET, option, &value, &n) && value == want;
}

/* What the guard and the token rule need to know about an inherited socket. */
static int take_inherited_address(http_sockets *s, int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_storage room;
    } a;
    socklen_t n = sizeof a;
    char text[INET6_ADDRSTRLEN] = "";
    if (getsockname(fd, &a.any, &n) < 0)
        return vp_fail(VP_EIO, "an inherited socket has no address: %s", strerror(errno));
    if (a.any.sa_family == AF_UNIX)
        return 0;
    bool v4 = a.any.sa_family == AF_INET;
    if (!v4 && a.any.sa_family != AF_INET6)
        return vp_fail(VP_EARG, "an inherited socket is neither IPv4, IPv6 nor Unix");
    inet_ntop(a.any.sa_family, v4 ? (void *)&a.v4.sin_addr : (void *)&a.v6.sin6_addr, text,
              sizeof text);
    uint16_t port = ntohs(v4 ? a.v4.sin_port : a.v6.sin6_port);
    if (s->port && s->port != port)
        return vp_fail(VP_EARG, "the inherited sockets are on different ports, %u and %u",
                       (unsigned)s->port, (unsigned)port);
    s->port = port;
    if (!s->shown[0])
        memcpy(s->shown, text, sizeof text);
    if (!http_is_loopback(text) && !s->bound[0])
        memcpy(s->bound, text, sizeof text);
    return 0;
}

static int take_inherited(http_sockets *s, int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (!has_option(fd, SO_TYPE, SOCK_STREAM) || !has_option(fd, SO_ACCEPTCONN, 1))
        return vp_fail(VP_EARG, "descriptor %d of LISTEN_FDS is not a listening stream socket", fd);
    VP_TRY(take_inherited_address(s, fd));
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return vp_fail(VP_EIO, "descriptor %d of LISTEN_FDS: %s", fd, strerror(errno));
    s->fds[s->count++] = fd;
    return 0;
}

int http_listen_inherited(http_sockets *out)
{
    uint64_t pid, n;
    http_sockets s = {.fds = {-1, -1, -1, -1}};
    *out = s;
    if (!env_number("LISTEN_PID", INT32_MAX, &pid) || (pid_t)pid != getpid() ||
        !env_number("LISTEN_FDS", INT32_MAX, &n) || !n)
        return 0;
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    if (n > HTTP_SOCKETS_MAX)
        return vp_fail(VP_EARG, "LISTEN_FDS passes %llu sockets; at most %d are supported",
                       (unsigned long long)n, HTTP_SOCKETS_MAX);
    /* Before any error: children must not inherit these descriptors. */
    for (int i = 0; i < (int)n; i++)
        if (fcntl(FIRST_INHERITED + i, F_SETFD, FD_CLOEXEC) < 0)
            return vp_fail(VP_EARG, "LISTEN_FDS: no descriptor %d", FIRST_INHERITED + i);
    for (int i = 0; i < (int)n; i++)
        VP_TRY(take_inherited(&s, FIRST_INHERITED + i));
    *out = s;
    return 0;
}

/* ---- The end -------------------------------------------------------------------------------- */

void http_sockets_close(http_sockets *s)
{
    struct stat st;
    for (int i = 0; i < s->count; i++)
        vp_fs_close(&s->fds[i]);
    if (s->path && !lstat(s->path, &st) && st.st_dev == s->dev && st.st_ino == s->ino)
        unlink(s->path);
    vp_free(s->path);
    *s = (http_sockets){.fds = {-1, -1, -1, -1}};
}
