/* The owner of the other end of a connection, by both ways to ask the kernel: sockets that this
 * test made, under users that it chose. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "server/net/connection/peer.h"
#include "tests/unit/skip.h"
#include "trace/base/err.h"

#define OTHER 34567

typedef struct pair {
    int listening, client, accepted;
    struct sockaddr_storage end, to; /* of the client: its own, the server's */
} pair;

static int netlink; /* below 0: this kernel has none, or an emulator passes none on */

static int open_netlink(void **state)
{
    (void)state;
    netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    return netlink < 0 && errno != EPROTONOSUPPORT && errno != EAFNOSUPPORT;
}

static int close_netlink(void **state)
{
    (void)state;
    return netlink < 0 ? 0 : close(netlink);
}

static void the_kernel_can_be_asked_by_netlink(void **state)
{
    (void)state;
    if (netlink < 0)
        skip_because("no NETLINK_SOCK_DIAG: the owners were only looked up in /proc/net");
}

/* family: of the listener; mapped: an IPv6 socket that connects to its IPv4 address. */
static void make(pair *p, int family, bool mapped)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
    socklen_t n = sizeof p->to, m = sizeof p->end;
    bool is_v4 = family == AF_INET;
    memset(p, 0, sizeof *p);
    p->listening = socket(family, SOCK_STREAM, 0);
    assert_int_equal(
        bind(p->listening, is_v4 ? (void *)&v4 : (void *)&v6, is_v4 ? sizeof v4 : sizeof v6), 0);
    assert_int_equal(listen(p->listening, 4), 0);
    assert_int_equal(getsockname(p->listening, (void *)&p->to, &n), 0);
    struct sockaddr_in6 to = {.sin6_family = AF_INET6,
                              .sin6_port = ((struct sockaddr_in *)(void *)&p->to)->sin_port};
    assert_int_equal(inet_pton(AF_INET6, "::ffff:127.0.0.1", &to.sin6_addr), 1);
    p->client = socket(mapped ? AF_INET6 : family, SOCK_STREAM, 0);
    assert_int_equal(
        connect(p->client, mapped ? (void *)&to : (void *)&p->to, mapped ? sizeof to : n), 0);
    p->accepted = accept(p->listening, (void *)&p->end, &m);
    assert_true(p->accepted >= 0);
}

static void end(pair *p)
{
    close(p->listening);
    close(p->accepted);
    if (p->client >= 0)
        close(p->client);
}

static int by(bool diag, uid_t *out, const pair *p)
{
    const struct sockaddr *from = (const void *)&p->end, *to = (const void *)&p->to;
    *out = 424242;
    return diag ? http_peer_by_diag(out, netlink, from, to) : http_peer_by_proc(out, from, to);
}

static void expect(const pair *p, int rc, uid_t uid)
{
    uid_t got;
    for (int diag = 0; diag < (netlink < 0 ? 1 : 2); diag++) {
        assert_int_equal(by(diag, &got, p), rc);
        if (!rc)
            assert_int_equal(got, uid);
    }
}

static void owners_are_found(void **state)
{
    static const struct {
        int family;
        bool mapped;
    } ways[] = {{AF_INET, false}, {AF_INET6, false}, {AF_INET, true}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        pair p;
        make(&p, ways[i].family, ways[i].mapped);
        expect(&p, 0, geteuid());
        shutdown(p.client, SHUT_WR); /* still held: it waits for an answer */
        expect(&p, 0, geteuid());
        close(p.client);
        p.client = -1;
        expect(&p, VP_ENOTFOUND, 0);
        end(&p);
    }
}

static void users_are_told_apart(void **state)
{
    uid_t before = geteuid();
    pair p, q;
    (void)state;
    if (before)
        skip_because("only root can be several users");
    make(&q, AF_INET, false);
    assert_int_equal(seteuid(OTHER), 0);
    make(&p, AF_INET, false);
    assert_int_equal(seteuid(before), 0);
    expect(&p, 0, OTHER);
    expect(&q, 0, before);
    end(&p);
    end(&q);
}

/* The listener itself, and ends that are connected to something else, are no other end. */
static void nothing_else_is_found(void **state)
{
    pair p, q;
    (void)state;
    make(&p, AF_INET, false);
    make(&q, AF_INET, false);
    pair crossed = {.end = p.end, .to = q.to}, listener = {.end = p.to, .to = q.end};
    expect(&crossed, VP_ENOTFOUND, 0);
    expect(&listener, VP_ENOTFOUND, 0);
    end(&p);
    end(&q);
}

static void unix_sockets_tell_by_themselves(void **state)
{
    int ends[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_true(http_peer_is_ours(NULL, ends[0]));
    close(ends[0]);
    close(ends[1]);
    assert_false(http_peer_is_ours(NULL, ends[0]));
}

static void what_can_be_learnt_is_tried(void **state)
{
    http_peers *peers = NULL;
    pair p;
    (void)state;
    make(&p, AF_INET, false);
    assert_int_equal(http_peers_open(&peers, &p.listening, 1), 0);
    assert_true(http_peer_is_ours(peers, p.accepted));
    http_peers_close(peers);
    http_peers_close(NULL);
    shutdown(p.listening, SHUT_RDWR); /* as one that is in another network is out of our reach */
    assert_int_equal(http_peers_open(&peers, &p.listening, 1), VP_EUNSUPPORTED);
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernel_can_be_asked_by_netlink),
        cmocka_unit_test(owners_are_found),
        cmocka_unit_test(users_are_told_apart),
        cmocka_unit_test(nothing_else_is_found),
        cmocka_unit_test(unix_sockets_tell_by_themselves),
        cmocka_unit_test(what_can_be_learnt_is_tried),
    };
    return cmocka_run_group_tests(tests, open_netlink, close_netlink);
}
