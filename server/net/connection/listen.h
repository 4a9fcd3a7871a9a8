/* Opens listening sockets: on the given addresses with the port policy of
 * docs/reference/cli.md#ports, on a Unix path, or inherited from a service manager. Fails with a
 * message that says what to change.
 *
 * --listen takes only a Unix socket; several addresses are possible with socket activation. */
#ifndef VP_NET_LISTEN_H
#define VP_NET_LISTEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HTTP_SOCKETS_MAX 4

/* The port in Perfetto's content security policy; the following ones are for further instances. */
#define HTTP_FIRST_PORT 9001
#define HTTP_MORE_PORTS 20

typedef struct http_sockets {
    int fds[HTTP_SOCKETS_MAX]; /* one per address; -1 if ownership was passed on */
    int count;
    uint16_t port;  /* port of all; 0: only Unix sockets */
    char shown[64]; /* the first address, for the URL; "" means 127.0.0.1 */
    char bound[64]; /* the first address that is not loopback, "" for none */
    char *path;     /* path of the socket that was created, owned; NULL for inherited sockets */
    dev_t dev;      /* identity of its file, so that no other file is removed */
    ino_t ino;
} http_sockets;

/* host and port as in http_config. VP_EBUSY: the port is in use; VP_EARG: host is not an address.
 */
int http_listen(http_sockets *out, const char *host, int port);
/* Creates a socket at path with mode 0600; replaces a stale one. VP_EBUSY: another server is
 * listening, or the path is not a socket; VP_EARG: the path is too long. */
int http_listen_unix(http_sockets *out, const char *path);
/* Takes the sockets of LISTEN_FDS if they are for this process, and unsets the variables, so that
 * children do not use them. out->count is 0 without any. VP_EARG: not listening stream sockets, or
 * on different ports. */
int http_listen_inherited(http_sockets *out);
/* Closes the sockets that are still owned, and removes the file of http_listen_unix. */
void http_sockets_close(http_sockets *s);

/* "127.x", "::1", "localhost" and NULL. */
bool http_is_loopback(const char *host);

#endif
