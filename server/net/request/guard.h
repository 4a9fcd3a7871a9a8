/* Checks requests before routing: rejects what libmicrohttpd accepts (two Hosts, two lengths,
 * folded headers, bodies on GET, …: docs/reference/http.md#request-checks) and attacks from other
 * web sites (DNS rebinding, cross-origin reads and writes: docs/reference/security.md#guard). Pure
 * functions on a plain description of the request. */
#ifndef VP_NET_GUARD_H
#define VP_NET_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/str.h"

/* More header fields than browsers send. */
#define HTTP_HEADERS_MAX 128u

typedef struct http_field {
    vp_str name, value; /* the value as received; can contain NULs */
} http_field;

typedef struct http_head {
    vp_str method, target, version; /* target as in the request line */
    http_field fields[HTTP_HEADERS_MAX];
    size_t field_count;
    bool too_many; /* fields were omitted */
} http_head;

typedef struct guard_policy {
    uint16_t port;     /* 0: a Unix socket, which only local programs can reach */
    bool any_address;  /* bound to all addresses: every address literal is accepted as Host */
    const char *bound; /* the bound address literal, NULL for loopback */
    const char *const *hosts;   /* --allow-host: "name" or "name:port"; NULL-terminated or NULL */
    const char *const *origins; /* --allow-origin and Perfetto's; NULL-terminated or NULL */
    const char *token;          /* NULL: not required */
} guard_policy;

typedef enum guard_origin { GUARD_NO_ORIGIN, GUARD_OWN_ORIGIN, GUARD_LISTED_ORIGIN } guard_origin;

typedef struct guard_verdict {
    int status;          /* 0: continue; else the status of the response */
    const char *message; /* constant text */
    bool close;          /* ambiguous framing: nothing more can be read from the connection */
    guard_origin origin;
    vp_str host;        /* Host as received, "127.0.0.1:9001" */
    vp_str origin_text; /* Origin as received */
    vp_str target;      /* origin-form: "/path?query" */
} guard_verdict;

/* Framing, header syntax, Host, Origin and Sec-Fetch, in this order. */
void guard_check(guard_verdict *v, const guard_policy *p, const http_head *h);
/* For POST requests: the body must be JSON, and the request must come from our pages or from no
 * page; another port of this machine is foreign. 0 or the status to send. */
int guard_may_change(const guard_verdict *v, const http_head *h, const char **why);

/* How a request presents the token. */
typedef enum guard_auth { GUARD_DENIED, GUARD_BY_HEADER, GUARD_BY_QUERY } guard_auth;
/* query: the decoded value of ?token=, or NULL. Without a token in the policy: GUARD_BY_HEADER. */
guard_auth guard_authenticate(const guard_policy *p, const http_head *h, const char *query);
/* The name of the cookie, which contains the port, because cookies are shared between ports. cap >=
 * 32. */
void guard_cookie_name(const guard_policy *p, char *out, size_t cap);
/* Constant-time comparison (depends only on the lengths). */
bool guard_equal(vp_str a, vp_str b);

/* The value of the first field with this name; p is NULL if there is none. */
vp_str http_head_get(const http_head *h, const char *name);

#endif
