#include "server/net/request/guard.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "trace/base/limits.h"

/* Characters of the longest DNS name: the first and last of its 255 bytes (RFC 1035 2.3.4) are not
 * text. */
#define HOST_MAX 253u

vp_str http_head_get(const http_head *h, const char *name)
{
    vp_str want = vp_str_of(name);
    for (size_t i = 0; i < h->field_count; i++)
        if (vp_str_eq_nocase(h->fields[i].name, want))
            return h->fields[i].value;
    return VP_STR_NONE;
}

static size_t count_header_fields(const http_head *h, vp_str name)
{
    size_t n = 0;
    for (size_t i = 0; i < h->field_count; i++)
        n += vp_str_eq_nocase(h->fields[i].name, name);
    return n;
}

static bool deny_request(guard_verdict *v, int status, bool close, const char *message)
{
    v->status = status;
    v->close = close;
    v->message = message;
    return false;
}

/* RFC 9110 5.6.2. */
static bool is_token(vp_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool alnum = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
        if (!alnum && (!c || !strchr("!#$%&'*+-.^_`|~", c)))
            return false;
    }
    return s.n > 0;
}

/* ---- Framing and syntax ------------------------------------------------------------------- */

static bool check_fields(guard_verdict *v, const http_head *h)
{
    static const vp_str once[] = {VP_STR_INIT("Host"),
                                  VP_STR_INIT("Content-Length"),
                                  VP_STR_INIT("Transfer-Encoding"),
                                  VP_STR_INIT("Origin"),
                                  VP_STR_INIT("Authorization"),
                                  VP_STR_INIT("Content-Type"),
                                  VP_STR_INIT("Sec-Fetch-Site"),
                                  VP_STR_INIT("Sec-Fetch-Mode")};
    if (h->too_many)
        return deny_request(v, 431, true, "too many header fields");
    for (size_t i = 0; i < h->field_count; i++) {
        if (!is_token(h->fields[i].name))
            return deny_request(v, 400, true, "malformed header name");
        for (size_t k = 0; k < h->fields[i].value.n; k++) {
            unsigned char c = (unsigned char)h->fields[i].value.p[k];
            if ((c < 0x20 && c != '\t') || c == 0x7f)
                return deny_request(v, 400, true, "control character in a header");
        }
    }
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        if (count_header_fields(h, once[i]) > 1)
            return deny_request(v, 400, true, "duplicate header");
    return true;
}

static bool check_body(guard_verdict *v, const http_head *h)
{
    vp_str length = http_head_get(h, "Content-Length");
    vp_str coding = http_head_get(h, "Transfer-Encoding");
    uint64_t n = 0;
    if (length.p && coding.p)
        return deny_request(v, 400, true, "both Content-Length and Transfer-Encoding");
    if (coding.p && !vp_str_eq_nocase(vp_str_trim(coding), VP_STR("chunked")))
        return deny_request(v, 501, true, "unsupported transfer coding; only chunked is supported");
    if (length.p && !vp_str_to_u64(length, &n))
        return deny_request(v, 400, true, "malformed Content-Length");
    if (n > VP_HTTP_BODY_MAX)
        return deny_request(v, 413, true, "request body too large");
    if (vp_str_eq(h->method, VP_STR("POST")))
        return true;
    if (coding.p || n)
        return deny_request(v, 413, true, "this method does not allow a request body");
    return true;
}

/* A client that expects 100 Continue has a body, which only POST allows. */
static bool check_expect(guard_verdict *v, const http_head *h)
{
    vp_str expect = http_head_get(h, "Expect");
    if (!expect.p ||
        (vp_str_eq_nocase(expect, VP_STR("100-continue")) &&
         (vp_str_eq(h->method, VP_STR("POST")) || vp_str_eq(h->version, VP_STR("HTTP/1.0")))))
        return true;
    return deny_request(v, 417, true, "unsupported Expect header");
}

static bool check_method(guard_verdict *v, const http_head *h)
{
    static const char *const known[] = {"GET",     "HEAD",  "POST",  "PUT",    "DELETE",
                                        "OPTIONS", "PATCH", "TRACE", "CONNECT"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (vp_str_eq(h->method, vp_str_of(known[i])))
            return true;
    return deny_request(v, 501, true, "unknown method");
}

/* ---- Host --------------------------------------------------------------------------------- */

typedef struct authority {
    vp_str host; /* without brackets */
    bool is_v6, has_port;
    uint64_t port;
} authority;

static bool split_authority(vp_str s, authority *a)
{
    *a = (authority){.is_v6 = s.n && s.p[0] == '['};
    char stop = a->is_v6 ? ']' : ':';
    size_t start = a->is_v6 ? 1 : 0, end = start;
    while (end < s.n && s.p[end] != stop)
        end++;
    if (a->is_v6 && end == s.n)
        return false;
    a->host = vp_str_head(vp_str_skip(s, start), end - start);
    s = vp_str_skip(s, end + start);
    if (!a->host.n || a->host.n > HOST_MAX)
        return false;
    if (!s.n)
        return true;
    if (s.p[0] != ':')
        return false;
    a->has_port = true;
    s = vp_str_skip(s, 1);
    return vp_take_uint(&s, UINT16_MAX, &a->port) && !s.n;
}

typedef struct address {
    int family; /* 0: a name, not an address literal */
    unsigned char bytes[16];
} address;

static address parse_address(vp_str s)
{
    char z[INET6_ADDRSTRLEN];
    address a = {0};
    if (s.n >= sizeof z || !s.n)
        return a;
    memcpy(z, s.p, s.n);
    z[s.n] = 0;
    if (inet_pton(AF_INET, z, a.bytes) == 1)
        a.family = AF_INET;
    else if (inet_pton(AF_INET6, z, a.bytes) == 1)
        a.family = AF_INET6;
    return a;
}

static bool is_loopback_address(const address *a)
{
    static const unsigned char v6[16] = {[15] = 1};
    return (a->family == AF_INET && a->bytes[0] == 127) ||
           (a->family == AF_INET6 && !memcmp(a->bytes, v6, 16));
}

static bool is_our_address(const guard_policy *p, const authority *a)
{
    address x = parse_address(a->host);
    if (!x.family || a->is_v6 != (x.family == AF_INET6))
        return false;
    if (p->any_address || is_loopback_address(&x))
        return true;
    address bound = parse_address(vp_str_of(p->bound));
    return bound.family == x.family && !memcmp(bound.bytes, x.bytes, 16);
}

static bool is_localhost(vp_str s)
{
    static const vp_str name = VP_STR_INIT("localhost"), suffix = VP_STR_INIT(".localhost");
    if (vp_str_eq_nocase(s, name))
        return true;
    return s.n > suffix.n && is_token(s) &&
           vp_str_eq_nocase(vp_str_skip(s, s.n - suffix.n), suffix);
}

static bool is_allowed_name(const guard_policy *p, vp_str whole, const authority *a)
{
    for (size_t i = 0; p->hosts && p->hosts[i]; i++) {
        vp_str allowed = vp_str_of(p->hosts[i]);
        if (vp_str_eq_nocase(whole, allowed))
            return true;
        if (vp_str_eq_nocase(a->host, allowed) && (!a->has_port || a->port == p->port))
            return true;
    }
    return false;
}

static bool host_is_ours(const guard_policy *p, vp_str s)
{
    authority a;
    if (!split_authority(s, &a))
        return false;
    if (is_allowed_name(p, s, &a))
        return true;
    if (a.has_port && a.port != p->port && p->port)
        return false;
    return is_our_address(p, &a) || (!a.is_v6 && is_localhost(a.host));
}

static bool check_host_header(guard_verdict *v, const guard_policy *p, const http_head *h)
{
    v->host = http_head_get(h, "Host");
    if (!v->host.p && !p->port && vp_str_eq(h->version, VP_STR("HTTP/1.0"))) {
        v->host = VP_STR("localhost"); /* a simple client on a Unix socket */
        return true;
    }
    if (!v->host.p)
        return deny_request(v, 400, true, "missing Host header");
    if (!host_is_ours(p, v->host))
        return deny_request(
            v, 403, false,
            "unknown Host; to allow it, start the server with --allow-host NAME[:PORT]");
    return true;
}

/* Absolute form ("GET http://host/path") is for proxies; accepted if it names this server. */
static bool check_target(guard_verdict *v, const guard_policy *p, const http_head *h)
{
    v->target = h->target;
    if (!vp_str_starts_nocase(h->target, VP_STR("http://")))
        return true;
    vp_str rest = vp_str_skip(h->target, 7);
    size_t n = 0;
    while (n < rest.n && rest.p[n] != '/' && rest.p[n] != '?')
        n++;
    if (!host_is_ours(p, vp_str_head(rest, n)))
        return deny_request(v, 400, true, "the request is addressed to another server");
    v->target = n < rest.n ? vp_str_skip(rest, n) : VP_STR("/");
    return true;
}

/* ---- Origin --------------------------------------------------------------------------------- */

/* With a name of --allow-host, a proxy may terminate TLS. */
static bool is_own_origin(const guard_policy *p, vp_str origin, vp_str host)
{
    static const vp_str plain = VP_STR_INIT("http://"), tls = VP_STR_INIT("https://");
    authority a;
    if (vp_str_starts(origin, plain))
        return vp_str_eq_nocase(vp_str_skip(origin, plain.n), host);
    return vp_str_starts(origin, tls) && vp_str_eq_nocase(vp_str_skip(origin, tls.n), host) &&
           split_authority(host, &a) && is_allowed_name(p, host, &a);
}

static bool check_origin(guard_verdict *v, const guard_policy *p, const http_head *h)
{
    v->origin_text = http_head_get(h, "Origin");
    if (!v->origin_text.p)
        return true;
    if (is_own_origin(p, v->origin_text, v->host)) {
        v->origin = GUARD_OWN_ORIGIN;
        return true;
    }
    for (size_t i = 0; p->origins && p->origins[i]; i++)
        if (vp_str_eq(v->origin_text, vp_str_of(p->origins[i]))) {
            v->origin = GUARD_LISTED_ORIGIN;
            return true;
        }
    return deny_request(v, 403, false,
                        "this web site is not allowed to read from this server; to allow it, start "
                        "the server with --allow-origin ORIGIN");
}

/* <script> and <img> of other sites are rejected. */
static bool check_fetch_metadata(guard_verdict *v, const http_head *h)
{
    if (vp_str_eq_nocase(http_head_get(h, "Sec-Fetch-Mode"), VP_STR("no-cors")) &&
        vp_str_eq_nocase(http_head_get(h, "Sec-Fetch-Site"), VP_STR("cross-site")))
        return deny_request(v, 403, false, "other web sites cannot include files of this server");
    return true;
}

void guard_check(guard_verdict *v, const guard_policy *p, const http_head *h)
{
    *v = (guard_verdict){.origin = GUARD_NO_ORIGIN};
    if (check_fields(v, h) && check_body(v, h) && check_method(v, h) && check_expect(v, h) &&
        check_host_header(v, p, h) && check_target(v, p, h) && check_origin(v, p, h))
        check_fetch_metadata(v, h);
}

int guard_may_change(const guard_verdict *v, const http_head *h, const char **why)
{
    vp_str type = http_head_get(h, "Content-Type"), essence = VP_STR("");
    vp_str site = http_head_get(h, "Sec-Fetch-Site");
    if (type.p)
        vp_take_until(&type, ';', SIZE_MAX, &essence);
    if (v->origin == GUARD_LISTED_ORIGIN ||
        (v->origin == GUARD_NO_ORIGIN && !vp_str_eq(site, VP_STR("none")) &&
         !vp_str_eq(site, VP_STR("same-origin")))) {
        *why = "allowed only from the pages of this server";
        return 403;
    }
    if (!vp_str_eq_nocase(vp_str_trim(essence), VP_STR("application/json"))) {
        *why = "the body must be application/json";
        return 415;
    }
    return 0;
}

/* ---- Token -------------------------------------------------------------------------------- */

bool guard_equal(vp_str a, vp_str b)
{
    unsigned char diff = a.n != b.n;
    for (size_t i = 0; i < a.n; i++)
        diff = (unsigned char)(diff | (a.p[i] ^ (b.n ? b.p[i % b.n] : 0)));
    return !diff;
}

void guard_cookie_name(const guard_policy *p, char *out, size_t cap)
{
    snprintf(out, cap, "view_profile_%u", (unsigned)p->port);
}

static bool cookie_matches(const guard_policy *p, vp_str cookies, vp_str token)
{
    char name[32];
    guard_cookie_name(p, name, sizeof name);
    while (cookies.n) {
        vp_str value, key;
        vp_take_until(&cookies, ';', SIZE_MAX, &value);
        vp_take_until(&value, '=', SIZE_MAX, &key);
        if (vp_str_eq(vp_str_trim(key), vp_str_of(name)) && guard_equal(vp_str_trim(value), token))
            return true;
    }
    return false;
}

guard_auth guard_authenticate(const guard_policy *p, const http_head *h, const char *query)
{
    vp_str token = vp_str_of(p->token);
    vp_str bearer = http_head_get(h, "Authorization");
    if (!p->token)
        return GUARD_BY_HEADER;
    if (vp_str_starts_nocase(bearer, VP_STR("bearer ")) &&
        guard_equal(vp_str_trim(vp_str_skip(bearer, 7)), token))
        return GUARD_BY_HEADER;
    for (size_t i = 0; i < h->field_count; i++)
        if (vp_str_eq_nocase(h->fields[i].name, VP_STR("Cookie")) &&
            cookie_matches(p, h->fields[i].value, token))
            return GUARD_BY_HEADER;
    return query && guard_equal(vp_str_of(query), token) ? GUARD_BY_QUERY : GUARD_DENIED;
}
