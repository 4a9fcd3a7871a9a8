/* Refuses redirects to loopback and link-local addresses, where metadata services hand out
 * credentials, unless the first request was sent there. */
#ifndef VP_FETCH_HTTP_GUARD_H
#define VP_FETCH_HTTP_GUARD_H

#include <stdbool.h>

struct sockaddr;

typedef enum http_nearness {
    HTTP_ELSEWHERE,
    HTTP_THIS_MACHINE, /* loopback */
    HTTP_LINK_LOCAL,   /* also addresses of metadata services */
} http_nearness;

http_nearness http_nearness_of(const struct sockaddr *address);
/* Classifies a numeric address, IPv6 with or without brackets. HTTP_ELSEWHERE if it is not numeric.
 */
http_nearness http_nearness_of_text(const char *address);
/* Returns the nearest of the addresses that a name resolves to. HTTP_ELSEWHERE if it has none. */
http_nearness http_nearness_of_name(const char *host);
/* Returns whether a host that a user typed names this machine; then no proxy is used. */
bool http_is_this_machine(const char *host);

#endif
