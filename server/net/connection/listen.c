#include "server/net/connection/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"

/* Number of attempts with a port chosen by the kernel: one that is free for IPv4 can be in use for
 * IPv6. */
#define ANY_TRIES 16
#define BACKLOG 128

typedef union any_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} any_address;

static void set_port(any_address *a, uint16_t port)
{
    if (a->any.sa_family == AF_INET)
        a->v4.sin_port = htons(port);
    else
        a->v6.sin6_port = htons(port);
}

static socklen_t socket_address_size(const any_address *a)
{
    return a->any.sa_family == AF_INET ? sizeof a->v4 : sizeof a->v6;
}

/* 0 and a descriptor, or an errno. */
static int open_listening_socket(const any_address *a, int *out)
{
    int one = 1;
    VP_CLEANUP(vp_fs_close)
    int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errno;
    /* Permits binding despite connections in TIME_WAIT; two listeners still conflict. */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (a->any.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    if (bind(fd, &a->any, socket_address_size(a)) < 0 || listen(fd, BACKLOG) < 0)
        return errno;
    *out = vp_fs_take(&fd);
    return 0;
}

static uint16_t port_of(int fd)
{
    any_address a;
    socklen_t n = sizeof a;
    if (getsockname(fd, &a.any, &n) < 0)
        return 0;
    return ntohs(a.any.sa_family == AF_INET ? a.v4.sin_port : a.v6.sin6_port);
}

/* Opens all addresses on one port; 0 or an errno. Without IPv6, only the first is opened. */
static int open_all_sockets(http_sockets *s, any_address *a, int count, uint16_t port)
{
    *s = (http_sockets){.fds = {-1, -1, -1, -1}, .port = port};
    for (int i = 0; i < count; i++) {
        set_port(&a[i], s->port);
        int e = open_listening_socket(&a[i], &s->fds[s->count]);
        if (e && i > 0 && e != EADDRINUSE)
            continue;
        if (e) {
            vp_fs_close(&s->fds[0]);
            return e;
        }
        s->port = port_of(s->fds[s->count++]);
    }
    return 0;
}

bool http_is_loopback(const char *host)
{
    struct in_addr v4;
    if (!host || !strcmp(host, "localhost") || !strcmp(host, "::1"))
        return true;
    return inet_pton(AF_INET, host, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127;
}

static int parse_host(const char *host, any_address *a)
{
    memset(a, 0, 2 * sizeof *a);
    a[0].any.sa_family = AF_INET;
    a[1].any.sa_family = AF_INET6;
    a[0].v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a[1].v6.sin6_addr = in6addr_loopback;
    if (!host || !strcmp(host, "localhost"))
        return 2;
    if (inet_pton(AF_INET, host, &a[0].v4.sin_addr) == 1) {
        a[1].v6.sin6_addr = in6addr_any;
        return a[0].v4.sin_addr.s_addr == htonl(INADDR_ANY) ? 2 : 1;
    }
    a[0] = a[1];
    if (inet_pton(AF_INET6, host, &a[0].v6.sin6_addr) == 1)
        return 1;
    return vp_fail(VP_EARG,
                   "'%.100s' is not an IP address of this machine; use 127.0.0.1, ::1, 0.0.0.0 or "
                   "one of its addresses",
                   host);
}

int http_listen(http_sockets *out, const char *host, int port)
{
    any_address a[2];
    http_sockets s;
    int count = parse_host(host, a), e = EADDRINUSE;
    VP_TRY(count);
    int first = port < 0 ? HTTP_FIRST_PORT : port;
    int tries = port < 0 ? 1 + HTTP_MORE_PORTS : port == 0 ? ANY_TRIES : 1;
    if (port > UINT16_MAX)
        return vp_fail(VP_EARG, "port %d is out of range", port);
    for (int i = 0; i < tries && e == EADDRINUSE; i++)
        e = open_all_sockets(&s, a, count, (uint16_t)(port ? first + i : 0));
    if (e == EADDRINUSE && port < 0)
        return vp_fail(VP_EBUSY, "ports %d to %d are all in use; choose one with --port", first,
                       first + HTTP_MORE_PORTS);
    if (e == EADDRINUSE)
        return vp_fail(VP_EBUSY, "port %d is in use; choose another one with --port", port);
    if (e == EACCES)
        return vp_fail(VP_EBUSY, "permission denied for port %d; choose one above 1023", port);
    if (e)
        return vp_fail(VP_EARG, "cannot listen on %s: %s", host ? host : "127.0.0.1", strerror(e));
    if (host && strcmp(host, "localhost") != 0)
        snprintf(s.shown, sizeof s.shown, "%s", host);
    if (!http_is_loopback(host))
        snprintf(s.bound, sizeof s.bound, "%s", host);
    *out = s;
    return 0;
}
