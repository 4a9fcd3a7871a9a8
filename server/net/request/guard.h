/* The gate in front of routing: refuses what libmicrohttpd lets through (two Hosts, two lengths,
 * folded headers, bodies on GET, …: docs/reference/http.md#request-checks) and what other web sites
 * may try (DNS rebinding, cross-origin reads and writes: docs/reference/security.md#guard). Pure
 * functions over a plain picture of the request. */
#ifndef VP_NET_GUARD_H
#define VP_NET_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/str.h"

/* More header fields than any browser sends. */
#define HTTP_HEADERS_MAX 128u

typedef struct http_field {
    vp_str name, value; /* the value as received: may hold NULs */
} http_field;

typedef struct http_head {
    vp_str method, target, version; /* target as it stood in the request line */
    http_field fields[HTTP_HEADERS_MAX];
    size_t field_count;
    bool too_many; /* fields were left out */
} http_head;

typedef struct guard_policy {
    uint16_t port;            /* 0: a Unix socket, which only programs of this machine reach */
    bool any_address;         /* bound to all addresses: every address literal is a Host of ours */
    const char *bound;        /* the address literal that we are bound to, NULL for loopback */
    const char *const *hosts; /* --allow-host: "name" or "name:port"; NULL-terminated or NULL */
    const char *const *origins; /* --allow-origin and Perfetto's; NULL-terminated or NULL */
    const char *token;          /* NULL: none is needed */
} guard_policy;

typedef enum guard_origin { GUARD_NO_ORIGIN, GUARD_OWN_ORIGIN, GUARD_LISTED_ORIGIN } guard_origin;

typedef struct guard_verdict {
    int status;          /* 0: go on; else what to answer */
    const char *message; /* constant text */
    bool close;          /* framing is in doubt: nothing more may be read from the connection */
    guard_origin origin;
    vp_str host;        /* Host as received, "127.0.0.1:9001" */
    vp_str origin_text; /* Origin as received */
    vp_str target;      /* origin-form: "/path?query" */
} guard_verdict;

/* Framing, header syntax, Host, Origin and Sec-Fetch, in this order. */
void guard_check(guard_verdict *v, const guard_policy *p, const http_head *h);
/* For requests that change something (POST): JSON, and from our own pages or from no page at all;
 * another port of this machine counts as foreign. 0 or the status to answer. */
int guard_may_change(const guard_verdict *v, const http_head *h, const char **why);

/* How a request proves the token of a server that is reachable from other machines. */
typedef enum guard_auth { GUARD_DENIED, GUARD_BY_HEADER, GUARD_BY_QUERY } guard_auth;
/* query: the decoded value of ?token=, or NULL. Without a token in the policy: GUARD_BY_HEADER. */
guard_auth guard_authenticate(const guard_policy *p, const http_head *h, const char *query);
/* The cookie's name: cookies do not heed ports, so it carries ours. cap >= 32. */
void guard_cookie_name(const guard_policy *p, char *out, size_t cap);
/* Compares in a time that depends on the lengths only. */
bool guard_equal(vp_str a, vp_str b);

/* The value of the first field with this name; p is NULL where there is none. */
vp_str http_head_get(const http_head *h, const char *name);

#endif
