/* Listening sockets: on exactly the addresses that were asked for with the port policy of
 * docs/reference/cli.md#ports, at a path of the file system, or as a service manager passed them.
 *
 * --listen takes a Unix socket only; several addresses come by socket activation. */
#ifndef VP_NET_LISTEN_H
#define VP_NET_LISTEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HTTP_SOCKETS_MAX 4

/* The port that Perfetto's content security policy names; those behind it are for further
 * instances. */
#define HTTP_FIRST_PORT 9001
#define HTTP_MORE_PORTS 20

typedef struct http_sockets {
    int fds[HTTP_SOCKETS_MAX]; /* one an address; -1 where one was given away */
    int count;
    uint16_t port;  /* of all; 0: Unix sockets only */
    char shown[64]; /* the first address, for the URL; "" stands for 127.0.0.1 */
    char bound[64]; /* the first address that is not loopback, "" for none */
    char *path;     /* of the socket that we made, owned; NULL for others */
    dev_t dev;      /* its file, so that only ours is removed */
    ino_t ino;
} http_sockets;

/* host and port as in http_config. VP_EBUSY names the port; VP_EARG: host is no address. */
int http_listen(http_sockets *out, const char *host, int port);
/* A socket at path, mode 0600. One that nobody answers at is replaced. VP_EBUSY: somebody answers,
 * or the path is something else; VP_EARG: the path is too long. */
int http_listen_unix(http_sockets *out, const char *path);
/* The sockets of LISTEN_FDS, when they are meant for this process; the variables are then unset,
 * so that no child takes them for its own. out->count is 0 without any. VP_EARG: they are not
 * listening stream sockets, or on different ports. */
int http_listen_inherited(http_sockets *out);
/* Closes what was not given away, and removes the file of http_listen_unix. */
void http_sockets_close(http_sockets *s);

/* "127.x", "::1", "localhost" and NULL. */
bool http_is_loopback(const char *host);

#endif
