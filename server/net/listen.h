/* Listening sockets: on exactly the addresses that were asked for, with the port policy of
 * DESIGN 5. Included by server/net only. */
#ifndef VP_NET_LISTEN_H
#define VP_NET_LISTEN_H

#include <stdint.h>

typedef struct http_sockets {
    int fds[2]; /* one a family; the callers close them */
    int count;
    uint16_t port;
} http_sockets;

/* host and port as in http_config. VP_EBUSY names the port; VP_EARG: host is no address. */
int http_listen(http_sockets *out, const char *host, int port);

#endif
