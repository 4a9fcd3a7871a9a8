#include "server/net/connection/peer.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/mem.h"
#include "trace/base/str.h"

/* overflowuid: the kernel's uid for all users that do not exist in our namespace. If this process
 * has this uid, they cannot be told apart from it. */
#define NOBODY 65534u
/* In ms, for a connection to our own socket: sufficient unless it is being flooded. */
#define CONNECT_MS 500

typedef union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage room;
} address;

struct http_peers {
    int netlink; /* -1: by /proc */
    uint32_t seq;
    pthread_mutex_t lock;
};

static int fail_unknown_peer(void)
{
    return vp_fail(VP_ENOTFOUND, "no process found at the other end of this connection");
}

/* A socket that its program has closed has no owner, although the kernel may report user 0. A
 * socket that is still connecting cannot be the peer. */
static bool is_held(unsigned state, uint64_t inode)
{
    return inode && (state == TCP_ESTABLISHED || state == TCP_FIN_WAIT1 || state == TCP_FIN_WAIT2);
}

/* ---- By sock_diag(7): one socket by its four numbers ------------------------------------------
 */

static size_t address_of(const struct sockaddr *a, const void **bytes, uint16_t *port)
{
    const struct sockaddr_in *v4 = (const void *)a;
    const struct sockaddr_in6 *v6 = (const void *)a;
    bool is_v4 = a->sa_family == AF_INET;
    *bytes = is_v4 ? (const void *)&v4->sin_addr : (const void *)&v6->sin6_addr;
    *port = is_v4 ? v4->sin_port : v6->sin6_port;
    return is_v4 ? sizeof v4->sin_addr : sizeof v6->sin6_addr;
}

typedef struct question {
    struct nlmsghdr head;
    struct inet_diag_req_v2 of;
} question;

static void fill_diag_question(question *q, const struct sockaddr *end, const struct sockaddr *to,
                               uint32_t seq)
{
    const void *bytes;
    *q = (question){
        .head = {sizeof *q, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, seq, 0},
        .of = {.sdiag_family = (uint8_t)end->sa_family,
               .sdiag_protocol = IPPROTO_TCP,
               .idiag_states = ~0u,
               .id = {.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
    };
    size_t n = address_of(end, &bytes, &q->of.id.idiag_sport);
    memcpy(q->of.id.idiag_src, bytes, n);
    n = address_of(to, &bytes, &q->of.id.idiag_dport);
    memcpy(q->of.id.idiag_dst, bytes, n);
}

/* Reads the reply, which is available after the request was sent. Skips replies to older requests.
 */
static int hear_diag_answer(uid_t *out, int netlink, uint32_t seq)
{
    union {
        struct nlmsghdr head;
        char room[1024];
    } m;
    for (;;) {
        ssize_t n = recv(netlink, &m, sizeof m, MSG_DONTWAIT);
        if (n < (ssize_t)sizeof m.head)
            return fail_unknown_peer();
        if (m.head.nlmsg_seq != seq)
            continue;
        const struct inet_diag_msg *found = (const void *)((const char *)&m + NLMSG_HDRLEN);
        if (m.head.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
            n < (ssize_t)(NLMSG_HDRLEN + sizeof *found) ||
            !is_held(found->idiag_state, found->idiag_inode))
            return fail_unknown_peer();
        *out = found->idiag_uid;
        return 0;
    }
}

static int ask_diag_owner(uid_t *out, int netlink, const struct sockaddr *end,
                          const struct sockaddr *to, uint32_t seq)
{
    question q;
    fill_diag_question(&q, end, to, seq);
    if (send(netlink, &q, sizeof q, MSG_DONTWAIT) != (ssize_t)sizeof q)
        return fail_unknown_peer();
    return hear_diag_answer(out, netlink, seq);
}

int http_peer_by_diag(uid_t *out, int netlink, const struct sockaddr *end,
                      const struct sockaddr *to)
{
    return ask_diag_owner(out, netlink, end, to, 1);
}

/* ---- By /proc/net/tcp and tcp6 (proc(5)) ------------------------------------------------------
 */

/* "0100007F:1F90": words of the address in native byte order, the port as a number. */
static void put_proc_address(char *out, size_t cap, const struct sockaddr *a, bool mapped)
{
    const void *bytes;
    uint16_t port;
    uint32_t words[4];
    size_t n = address_of(a, &bytes, &port), at = 0;
    if (mapped)
        at = (size_t)snprintf(out, cap, "%08X%08X%08X", 0u, 0u, htonl(0xffff));
    memcpy(words, bytes, n);
    for (size_t i = 0; i < n / sizeof *words; i++)
        at += (size_t)snprintf(out + at, cap - at, "%08X", words[i]);
    snprintf(out + at, cap - at, ":%04X", ntohs(port));
}

/* The fields after the addresses: state, queues, timer, retransmits, uid, timeout, inode. */
static int take_proc_row(uid_t *out, vp_str rest)
{
    uint64_t numbers[7] = {0};
    for (size_t i = 0; i < 7; i++) {
        vp_str word = VP_STR("");
        while (rest.n && !word.n)
            vp_take_until(&rest, ' ', SIZE_MAX, &word);
        if (i >= 4 && !vp_str_to_u64(word, &numbers[i]))
            return fail_unknown_peer();
        if (!i && word.n == 2) /* hexadecimal; is_held() wants 01, 04 and 05 */
            numbers[0] = word.p[0] == '0' ? (uint64_t)(word.p[1] - '0') : 0;
    }
    if (!is_held((unsigned)numbers[0], numbers[6]))
        return fail_unknown_peer();
    *out = (uid_t)numbers[4];
    return 0;
}

static int search_proc_net(uid_t *out, const char *file, const struct sockaddr *end,
                           const struct sockaddr *to, bool mapped)
{
    char from[48], at[48], line[512];
    int rc = -1;
    put_proc_address(from, sizeof from, end, mapped);
    put_proc_address(at, sizeof at, to, mapped);
    FILE *f = fopen(file, "re");
    while (f && rc < 0 && fgets(line, sizeof line, f)) {
        vp_str rest = vp_str_of(line), word = VP_STR("");
        vp_take_until(&rest, ':', SIZE_MAX, &word);
        rest = vp_str_skip(rest, 1);
        size_t n = strlen(from), m = strlen(at);
        if (rest.n > n + m + 2 && !memcmp(rest.p, from, n) && !memcmp(rest.p + n + 1, at, m))
            rc = take_proc_row(out, vp_str_skip(rest, n + m + 2));
    }
    if (f)
        fclose(f);
    return rc < 0 ? fail_unknown_peer() : 0;
}

int http_peer_by_proc(uid_t *out, const struct sockaddr *end, const struct sockaddr *to)
{
    bool is_v4 = end->sa_family == AF_INET;
    if (!search_proc_net(out, is_v4 ? "/proc/net/tcp" : "/proc/net/tcp6", end, to, false))
        return 0;
    return is_v4 ? search_proc_net(out, "/proc/net/tcp6", end, to, true) : fail_unknown_peer();
}

/* ---- Either -----------------------------------------------------------------------------------
 */

static int find_peer_owner(uid_t *out, http_peers *p, const address *end, const address *to)
{
    if (p->netlink < 0)
        return http_peer_by_proc(out, &end->any, &to->any);
    pthread_mutex_lock(&p->lock);
    int rc = ask_diag_owner(out, p->netlink, &end->any, &to->any, ++p->seq);
    pthread_mutex_unlock(&p->lock);
    return rc;
}

static bool is_our_uid(uid_t uid)
{
    return !uid || uid == geteuid();
}

static bool is_inet(const address *a)
{
    return a->any.sa_family == AF_INET || a->any.sa_family == AF_INET6;
}

/* "::ffff:127.0.0.1" is an IPv4 connection, even on IPv6 sockets. */
static void unmap_ipv4_address(address *a)
{
    if (a->any.sa_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&a->v6.sin6_addr))
        return;
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = a->v6.sin6_port};
    memcpy(&v4.sin_addr, a->v6.sin6_addr.s6_addr + 12, sizeof v4.sin_addr);
    a->v4 = v4;
}

bool http_peer_is_ours(http_peers *p, int fd)
{
    address here, there;
    struct ucred who;
    socklen_t n = sizeof here, m = sizeof there, k = sizeof who;
    uid_t uid;
    if (getsockname(fd, &here.any, &n) < 0)
        return false;
    if (here.any.sa_family == AF_UNIX)
        return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &k) && is_our_uid(who.uid);
    if (!p || !is_inet(&here) || getpeername(fd, &there.any, &m) < 0)
        return false;
    unmap_ipv4_address(&here);
    unmap_ipv4_address(&there);
    return !find_peer_owner(&uid, p, &there, &here) && is_our_uid(uid);
}

/* ---- The beginning ----------------------------------------------------------------------------
 */

static bool is_connected(int fd, const address *to, socklen_t n)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof error;
    if (!connect(fd, &to->any, n))
        return true;
    return errno == EINPROGRESS && poll(&p, 1, CONNECT_MS) == 1 &&
           !getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) && !error;
}

/* Checks that a connection of this process is identified as such. */
static bool finds_us(http_peers *p, int listening)
{
    address to, end;
    socklen_t n = sizeof to, m = sizeof end;
    uid_t uid;
    if (getsockname(listening, &to.any, &n) < 0)
        return false;
    if (!is_inet(&to)) /* Unix sockets have SO_PEERCRED */
        return to.any.sa_family == AF_UNIX;
    VP_CLEANUP(vp_fs_close)
    int fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return fd >= 0 && is_connected(fd, &to, n) && !getsockname(fd, &end.any, &m) &&
           !find_peer_owner(&uid, p, &end, &to) && uid == geteuid();
}

static bool check_peer_lookup(http_peers *p, const int *listening, int count)
{
    for (int i = 0; i < count; i++)
        if (!finds_us(p, listening[i]))
            return false;
    return geteuid() != NOBODY;
}

int http_peers_open(http_peers **out, const int *listening, int count)
{
    http_peers *p = vp_calloc(1, sizeof *p);
    VP_NEED(p);
    pthread_mutex_init(&p->lock, NULL);
    p->netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    bool known = p->netlink >= 0 && check_peer_lookup(p, listening, count);
    if (!known) {
        vp_fs_close(&p->netlink);
        known = check_peer_lookup(p, listening, count);
    }
    if (!known) {
        http_peers_close(p);
        return vp_fail(VP_EUNSUPPORTED, "cannot determine the user of the client");
    }
    *out = p;
    return 0;
}

void http_peers_close(http_peers *p)
{
    if (!p)
        return;
    vp_fs_close(&p->netlink);
    pthread_mutex_destroy(&p->lock);
    vp_free(p);
}
