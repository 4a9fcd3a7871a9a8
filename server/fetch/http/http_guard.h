/* Refuses redirects to loopback and link-local addresses, where metadata services hand out
 * credentials, unless the first request was sent there. */
#ifndef VP_FETCH_HTTP_GUARD_H
#define VP_FETCH_HTTP_GUARD_H

#include <stdbool.h>

struct sockaddr;

typedef enum http_nearness {
    HTTP_ELSEWHERE,
    HTTP_THIS_MACHINE, /* loopback */
    HTTP_LINK_LOCAL,   /* and addresses of metadata services */
} http_nearness;

http_nearness http_nearness_of(const struct sockaddr *address);
/* Of an address in digits, IPv6 with or without brackets; elsewhere: it is none. */
http_nearness http_nearness_of_text(const char *address);
/* The nearest of those that a name has here; elsewhere: it has none. */
http_nearness http_nearness_of_name(const char *host);
/* Whether a host that a user typed is this machine, by its name: no proxy is asked for it. */
bool http_is_this_machine(const char *host);

#endif
