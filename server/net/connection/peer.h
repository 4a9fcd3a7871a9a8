/* Whose program is at the other end of a connection. Every user of a machine reaches its loopback
 * addresses; a socket's owner is what tells them apart. Asked once a connection, when it is
 * accepted. Thread-safe.
 *
 * Without a token only our own user and root are answered. The kernel is asked by sock_diag for the
 * one socket with these four numbers, else by /proc/net/tcp and tcp6; of Unix sockets SO_PEERCRED
 * says it. A socket that its program has closed does not count: kernels give it to user 0. At the
 * start a connection of our own to each socket has to be found; where it is not (another network or
 * users of another namespace, as in a service with PrivateNetwork), a token is made as off
 * loopback. A proxy of another user's needs the token; there is no list of trusted users beside it.
 */
#ifndef VP_NET_PEER_H
#define VP_NET_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

typedef struct http_peers http_peers;

/* listening: the sockets that clients will come to; what can be learnt of them is tried on a
 * connection of our own to each. VP_EUNSUPPORTED: nothing can (a network or users of another
 * namespace than ours, a kernel that does not tell): then a token has to tell. */
int http_peers_open(http_peers **out, const int *listening, int count);
void http_peers_close(http_peers *p); /* NULL: nothing */
/* True when the other end of a connection is a socket of our own user's or of root's, which its
 * program still holds. Everything that is not known is false. */
bool http_peer_is_ours(http_peers *p, int fd);

/* The two ways to know, for tests: the owner of the local TCP socket at `end` that is connected to
 * `to` (both IPv4 or both IPv6). VP_ENOTFOUND: there is none, or nobody holds it any more. */
int http_peer_by_diag(uid_t *out, int netlink, const struct sockaddr *end,
                      const struct sockaddr *to);
int http_peer_by_proc(uid_t *out, const struct sockaddr *end, const struct sockaddr *to);

#endif
