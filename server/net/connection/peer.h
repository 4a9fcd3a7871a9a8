/* Determines the user of the program at the other end of a connection. Every user of a machine can
 * connect to loopback; the owner of the peer socket tells them apart. Called once per connection,
 * at accept. Thread-safe.
 *
 * Without a token, only this user and root are allowed. The kernel is queried by sock_diag for the
 * socket with these four numbers, else /proc/net/tcp and tcp6 are read; Unix sockets have
 * SO_PEERCRED. A socket that its program has closed is ignored, because kernels report user 0 for
 * it. At start, a connection to each listening socket must be found. If it is not (other network
 * or user namespace, such as a service with PrivateNetwork), a token is generated as for remote
 * addresses. A proxy of another user needs the token; there is no list of trusted users. */
#ifndef VP_NET_PEER_H
#define VP_NET_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

typedef struct http_peers http_peers;

/* listening: the sockets of the server; tests with a connection to each whether peers can be
 * identified. VP_EUNSUPPORTED: they cannot (another network or user namespace, or no kernel
 * support), so a token is required. */
int http_peers_open(http_peers **out, const int *listening, int count);
void http_peers_close(http_peers *p); /* NULL: nothing */
/* True if the peer is a socket of this user or root that its program still holds; false if unknown.
 */
bool http_peer_is_ours(http_peers *p, int fd);

/* The two methods, for tests: the owner of the local TCP socket at `end` that is connected to `to`
 * (both IPv4 or both IPv6). VP_ENOTFOUND: none, or no process holds it. */
int http_peer_by_diag(uid_t *out, int netlink, const struct sockaddr *end,
                      const struct sockaddr *to);
int http_peer_by_proc(uid_t *out, const struct sockaddr *end, const struct sockaddr *to);

#endif
