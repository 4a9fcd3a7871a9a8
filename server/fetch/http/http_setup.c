/* Sets the libcurl options of one try, and restricts the addresses it may connect to. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/fetch/http/http_guard.h"
#include "server/fetch/http/http_parts.h"
#include "trace/base/err.h"
#include "trace/base/time.h"

#define CONNECT_MS 10000L
#define NEAR_CONNECT_MS 1000L
/* A server that sends no data for this long is given up. */
#define SILENT_S 30L

/* ---- While it goes --------------------------------------------------------------------------- */

static size_t give_body(char *p, size_t size, size_t n, void *arg)
{
    http_call *c = arg;
    if (c->more) {
        long got = c->more(c->ctx, p, size * n);
        c->failed = got < 0 ? (int)got : 0;
        return got < 0 ? CURL_READFUNC_ABORT : (size_t)got;
    }
    size_t left = c->body.n - (size_t)c->body_n;
    n = size * n < left ? size * n : left;
    if (n)
        memcpy(p, c->body.p + c->body_n, n);
    c->body_n += (int64_t)n;
    return n;
}

static int rewind_body(void *arg, curl_off_t offset, int origin)
{
    http_call *c = arg;
    if (c->more || origin != SEEK_SET || offset < 0 || (size_t)offset > c->body.n)
        return CURL_SEEKFUNC_CANTSEEK;
    c->body_n = offset;
    return CURL_SEEKFUNC_OK;
}

static int look_around(void *arg, curl_off_t a, curl_off_t b, curl_off_t d, curl_off_t e)
{
    http_call *c = arg;
    int64_t now = vp_now_coarse_ms();
    (void)a, (void)b, (void)d, (void)e;
    if (!c->ask || now - c->looked_ms < 200)
        return 0;
    c->looked_ms = now;
    if (!fetch_abandoned(c->ask))
        return 0;
    c->failed = vp_fail(VP_ECANCELLED, "canceled by the client");
    return 1;
}

/* ---- Where it goes --------------------------------------------------------------------------- */

bool http_may_go(http_call *c, http_nearness to)
{
    if (!c->is_redirected)
        c->near = (int)to;
    else if (to != HTTP_ELSEWHERE && (int)to != c->near)
        c->refused_host = true;
    return !c->refused_host;
}

static curl_socket_t open_guarded_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *to)
{
    http_call *c = arg;
    (void)purpose;
    if (c->is_guarded && !http_may_go(c, http_nearness_of(&to->addr)))
        return CURL_SOCKET_BAD;
    return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

/* Also called when a connection is reused. */
static int before_request(void *arg, char *to, char *from, int to_port, int from_port)
{
    http_call *c = arg;
    (void)from, (void)to_port, (void)from_port;
    return !c->is_guarded || http_may_go(c, http_nearness_of_text(to)) ? CURL_PREREQFUNC_OK
                                                                       : CURL_PREREQFUNC_ABORT;
}

/* Returns whether the environment names a proxy for this address, by the rules of libcurl. */
bool http_has_proxy(const char *url)
{
    static const char *const plain[] = {"http_proxy", "all_proxy", "ALL_PROXY"};
    static const char *const tls[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
    bool is_tls = strncmp(url, "https:", 6) == 0;
    const char *const *names = is_tls ? tls : plain;
    for (size_t i = 0; i < (is_tls ? 4u : 3u); i++) {
        const char *value = getenv(names[i]);
        if (value && value[0])
            return true;
    }
    return false;
}

/* ---- Options --------------------------------------------------------------------------------- */

static void set_curl_option_status(http_call *c, CURLcode code)
{
    c->is_unset |= code != CURLE_OK;
}

static int add_header_lines(struct curl_slist **list, const vp_buf *lines)
{
    for (size_t at = 0; at < lines->n; at += strlen(lines->p + at) + 1) {
        struct curl_slist *longer = curl_slist_append(*list, lines->p + at);
        VP_NEED(longer);
        *list = longer;
    }
    return 0;
}

static void set_body(http_call *c)
{
    CURL *e = c->easy;
    bool is_head = strcmp(c->method, "HEAD") == 0, is_get = strcmp(c->method, "GET") == 0;
    if (is_head)
        set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_NOBODY, 1L));
    if (is_head || is_get)
        return;
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, c->method));
    bool sends = strcmp(c->method, "PUT") == 0 || strcmp(c->method, "POST") == 0 || c->body.n;
    if (!sends)
        return;
    int64_t n = c->more ? c->body_n : (int64_t)c->body.n;
    if (!c->more)
        c->body_n = 0;
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_UPLOAD, 1L));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, c->method));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_READFUNCTION, give_body));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_READDATA, c));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_SEEKFUNCTION, rewind_body));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_SEEKDATA, c));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_UPLOAD_BUFFERSIZE, 256L << 10));
    if (n >= 0)
        set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_INFILESIZE_LARGE, (curl_off_t)n));
}

/* The system's certificate authorities. NULL: curl knows their location. */
static const char *authorities_of(void)
{
    const char *named = getenv("SSL_CERT_FILE");
    if (named && named[0])
        return named;
#ifdef VP_OWN_CURL /* for a curl built elsewhere: Debian, Fedora, SUSE, Alpine */
    static const char *const usual[] = {"/etc/ssl/certs/ca-certificates.crt",
                                        "/etc/pki/tls/certs/ca-bundle.crt",
                                        "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (access(usual[i], R_OK) == 0)
            return usual[i];
#endif
    return NULL;
}

static void set_bounds(http_call *c, const char *host)
{
    CURL *e = c->easy;
    const char *authorities = authorities_of();
    bool near = (c->flags & HTTP_DIRECT) != 0, direct = near || http_is_this_machine(host);
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https"));
    set_curl_option_status(c,
                           curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L));
    set_curl_option_status(
        c, curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, near ? NEAR_CONNECT_MS : CONNECT_MS));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, 1L));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_LOW_SPEED_TIME, near ? 5L : SILENT_S));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_BUFFERSIZE, 256L << 10));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L));
    if (direct)
        set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_PROXY, ""));
    if (authorities)
        set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_CAINFO, authorities));
    c->is_guarded = direct || !http_has_proxy(c->url);
}

static void set_ways(http_call *c, struct curl_slist *lines)
{
    CURL *e = c->easy;
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_URL, c->url));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_HTTPHEADER, lines));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_ERRORBUFFER, c->curl_says));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, http_take_header));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_HEADERDATA, c));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, http_take_body));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_WRITEDATA, c));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_NOPROGRESS, 0L));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_XFERINFOFUNCTION, look_around));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_XFERINFODATA, c));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, open_guarded_socket));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, c));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, before_request));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_PREREQDATA, c));
    if (c->user && !c->is_elsewhere)
        set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_USERNAME, c->user));
    set_curl_option_status(c, curl_easy_setopt(e, CURLOPT_PASSWORD, c->password));
}

int http_set_up(http_call *c, const char *host, struct curl_slist **lines)
{
    static const char usual[] = "User-Agent: view_profile/" VP_VERSION "\0Expect:";
    vp_buf own = {.p = (char *)(uintptr_t)usual, .n = sizeof usual};
    c->signature.n = 0;
    http_begin_answer(c);
    c->curl_says[0] = '\0';
    VP_TRY(add_header_lines(lines, &own));
    if (c->authorize && !c->is_elsewhere)
        VP_TRY(c->authorize(c->authority, c));
    VP_TRY(c->headers.status);
    VP_TRY(add_header_lines(lines, &c->headers));
    VP_TRY(add_header_lines(lines, &c->signature));
    c->is_unset = false;
    set_bounds(c, host);
    set_body(c);
    set_ways(c, *lines);
    return !c->is_unset ? 0 : vp_fail(VP_EUNSUPPORTED, "this libcurl lacks required features");
}
