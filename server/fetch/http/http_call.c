#include "server/fetch/http/http_call.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/random.h>

#include <time.h>
#include <unistd.h>

#include "server/fetch/http/http_fail.h"
#include "server/fetch/http/http_parts.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/time.h"

#define TRIES 5u
#define HOPS 5u
#define PAUSE_MS 200
#define PAUSE_MAX_MS 8000
#define RETRY_AFTER_MAX_S 20
#define HEADERS_MAX (64u << 10)

/* ---- A call's own ---------------------------------------------------------------------------- */

/* Removes user:password@ from the URL. */
static int http_set_url(http_call *c, const char *url)
{
    CURLU *u = curl_url();
    char *whole = NULL, *user = NULL, *password = NULL;
    VP_NEED(u);
    bool fine = !curl_url_set(u, CURLUPART_URL, url, 0);
    (void)curl_url_get(u, CURLUPART_USER, &user, CURLU_URLDECODE);
    (void)curl_url_get(u, CURLUPART_PASSWORD, &password, CURLU_URLDECODE);
    (void)curl_url_set(u, CURLUPART_USER, NULL, 0);
    (void)curl_url_set(u, CURLUPART_PASSWORD, NULL, 0);
    (void)curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0);
    fine = fine && !curl_url_get(u, CURLUPART_URL, &whole, 0) &&
           (strncmp(whole, "http://", 7) == 0 || strncmp(whole, "https://", 8) == 0);
    vp_free(c->url);
    c->url = fine ? vp_strdup(whole) : NULL;
    if (user && !c->is_redirected) {
        c->user = vp_strdup(user);
        c->password = vp_strdup(password ? password : "");
    }
    if (password)
        OPENSSL_cleanse(password, strlen(password));
    curl_free(whole);
    curl_free(user);
    curl_free(password);
    curl_url_cleanup(u);
    if (!fine)
        return vp_fail(VP_EARG, "not an http:// or https:// address");
    VP_NEED(c->url);
    return 0;
}

int http_begin(http_call *c, fetch_ask *a, const char *method, vp_str url)
{
    *c = (http_call){.ask = a, .method = method, .body_n = -1};
    vp_buf_init(&c->headers, HEADERS_MAX);
    vp_buf_init(&c->signature, HEADERS_MAX);
    vp_buf_init(&c->answer, HTTP_ANSWER_MAX);
    char *z =
        memchr(url.p ? url.p : "", '\0', url.n) ? NULL : vp_strndup(url.p ? url.p : "", url.n);
    int rc = z ? http_set_url(c, z) : vp_fail(VP_EARG, "not an http:// or https:// address");
    if (z)
        OPENSSL_cleanse(z, strlen(z));
    vp_free(z);
    return rc;
}

static void wipe_and_free(vp_buf *b)
{
    if (b->p)
        OPENSSL_cleanse(b->p, b->cap);
    vp_buf_free(b);
}

void http_end(http_call *c)
{
    wipe_and_free(&c->headers);
    wipe_and_free(&c->signature);
    wipe_and_free(&c->answer);
    if (c->password)
        OPENSSL_cleanse(c->password, strlen(c->password));
    if (c->url) /* it may contain a signature */
        OPENSSL_cleanse(c->url, strlen(c->url));
    vp_free(c->url);
    vp_free(c->user);
    vp_free(c->password);
}

__attribute__((format(printf, 2, 0))) static int append_header_line(vp_buf *b, const char *format,
                                                                    va_list args)
{
    char line[8192];
    int n = vsnprintf(line, sizeof line, format, args);
    if (n < 0 || (size_t)n >= sizeof line || strpbrk(line, "\r\n"))
        return vp_fail(VP_EARG, "invalid HTTP header in the request");
    vp_buf_put(b, line, (size_t)n + 1);
    OPENSSL_cleanse(line, (size_t)n);
    return b->status;
}

int http_put_header(http_call *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int rc = append_header_line(&c->headers, format, args);
    va_end(args);
    return rc;
}

int http_sign(http_call *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int rc = append_header_line(&c->signature, format, args);
    va_end(args);
    return rc;
}

/* ---- One try --------------------------------------------------------------------------------- */

/* Origin and host of a URL parsed by libcurl. */
static int split_origin_and_host(const char *url, char *origin, size_t cap, char *host,
                                 size_t host_cap)
{
    CURLU *u = curl_url();
    char *scheme = NULL, *name = NULL, *port = NULL;
    VP_NEED(u);
    bool fine = !curl_url_set(u, CURLUPART_URL, url, 0) &&
                !curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) &&
                !curl_url_get(u, CURLUPART_HOST, &name, 0) && name[0] &&
                !curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT);
    if (fine) {
        snprintf(origin, cap, "%s://%s:%s", scheme, name, port);
        snprintf(host, host_cap, "%s", name);
    }
    curl_free(scheme);
    curl_free(name);
    curl_free(port);
    curl_url_cleanup(u);
    return fine ? 0 : vp_fail(VP_EARG, "not an http:// or https:// address");
}

static int one_try(http_call *c, CURLcode *code)
{
    char origin[320], host[256];
    struct curl_slist *lines = NULL;
    VP_TRY(split_origin_and_host(c->url, origin, sizeof origin, host, sizeof host));
    if (c->is_redirected && http_has_proxy(c->url) && !http_may_go(c, http_nearness_of_name(host)))
        return 0;
    VP_TRY(http_pool_take(origin, c->ask, &c->origin, &c->easy));
    c->failed = http_set_up(c, host, &lines);
    if (c->failed == 0) {
        *code = curl_easy_perform(c->easy);
        (void)curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &c->status);
    }
    for (struct curl_slist *l = lines; l; l = l->next)
        OPENSSL_cleanse(l->data, strlen(l->data));
    curl_slist_free_all(lines);
    http_pool_give(c->origin, c->easy);
    c->easy = NULL;
    return c->failed;
}

/* ---- Redirects ------------------------------------------------------------------------------- */

static bool is_redirect(const http_call *c)
{
    return (c->flags & HTTP_FOLLOWS) && c->location[0] &&
           (c->status == 301 || c->status == 302 || c->status == 303 || c->status == 307 ||
            c->status == 308);
}

static int go_elsewhere(http_call *c)
{
    char before[320], after[320], host[256];
    VP_TRY(split_origin_and_host(c->url, before, sizeof before, host, sizeof host));
    CURLU *u = curl_url();
    char *whole = NULL;
    VP_NEED(u);
    bool fine = !curl_url_set(u, CURLUPART_URL, c->url, 0) &&
                !curl_url_set(u, CURLUPART_URL, c->location, 0) &&
                !curl_url_get(u, CURLUPART_URL, &whole, 0);
    curl_url_cleanup(u);
    c->is_redirected = true;
    int rc = fine ? http_set_url(c, whole) : VP_EREMOTE;
    curl_free(whole);
    if (rc < 0)
        return vp_fail(VP_EREMOTE, "the server redirects to an address that is not http(s)");
    VP_TRY(split_origin_and_host(c->url, after, sizeof after, host, sizeof host));
    c->is_elsewhere |= strcmp(before, after) != 0;
    if (strncmp(before, "https:", 6) == 0 && strncmp(after, "https:", 6) != 0)
        return vp_fail(VP_EREFUSED, "redirect from https to http refused");
    return 0;
}

static int try_and_follow(http_call *c, CURLcode *code)
{
    c->is_redirected = c->is_elsewhere = false;
    for (unsigned hop = 0;; hop++) {
        *code = CURLE_OK;
        VP_TRY(one_try(c, code));
        if (c->refused_host)
            return vp_fail(VP_EREFUSED, "redirect to a loopback or link-local address refused");
        if (*code != CURLE_OK || !is_redirect(c))
            return 0;
        if (hop == HOPS)
            return vp_fail(VP_EREMOTE, "too many redirects");
        VP_TRY(go_elsewhere(c));
    }
}

/* ---- All tries ------------------------------------------------------------------------------- */

static bool is_passing_failure(CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_SSL_CONNECT_ERROR:
        return true;
    default:
        return false;
    }
}

static bool status_passes(long status)
{
    return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 ||
           status == 504;
}

/* Maximum number of tries: 3 if the server is unreachable, because the name may be mistyped; 2 if
 * no data arrived for half a minute. */
static unsigned tries_of(CURLcode code)
{
    bool unreached = code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST;
    return unreached ? 3 : code == CURLE_OPERATION_TIMEDOUT ? 2 : TRIES;
}

static bool may_try_again(const http_call *c, CURLcode code, unsigned tried)
{
    if ((c->flags & HTTP_ONCE) || c->more || (c->write && c->written))
        return false;
    return tried + 1 < tries_of(code) &&
           (code == CURLE_OK ? status_passes(c->status) : is_passing_failure(code));
}

static int pause_before(const http_call *c, unsigned tried)
{
    uint32_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
        random = 0; /* all programs waiting equally long is harmless here */
    int64_t ms = PAUSE_MS << tried;
    ms = ms / 2 + (int64_t)(random % 1000) * ms / 1000;
    if (c->retry_s > 0)
        ms = (c->retry_s < RETRY_AFTER_MAX_S ? c->retry_s : RETRY_AFTER_MAX_S) * 1000 + ms / 4;
    else if (ms > PAUSE_MAX_MS)
        ms = PAUSE_MAX_MS;
    for (int64_t end = vp_now_ms() + ms, now; (now = vp_now_ms()) < end;) {
        struct timespec t = {0, (end - now < 100 ? end - now : 100) * 1000000};
        (void)nanosleep(&t, NULL);
        if (c->ask && fetch_abandoned(c->ask))
            return vp_fail(VP_ECANCELLED, "canceled by the client");
    }
    return 0;
}

static int http_fail_transport(const http_call *c, CURLcode code)
{
    const char *why = c->curl_says[0] ? c->curl_says : curl_easy_strerror(code);
    switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
        return vp_fail(VP_EREMOTE, "proxy host not found");
    case CURLE_COULDNT_RESOLVE_HOST:
        return vp_fail(VP_EREMOTE, "host not found");
    case CURLE_COULDNT_CONNECT:
        return vp_fail(VP_EREMOTE, "cannot connect: %s", why);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        return vp_fail(VP_EREFUSED, "certificate verification failed: %s", why);
    case CURLE_OPERATION_TIMEDOUT:
        return vp_fail(VP_EREMOTE, "timed out");
    default:
        return vp_fail(VP_EREMOTE, "connection lost after %lld bytes: %s", (long long)c->written,
                       why);
    }
}

int http_perform(http_call *c)
{
    CURLcode code;
    char *given = vp_strdup(c->url);
    int rc = given ? 0 : vp_no_memory();
    c->failed = 0;
    for (unsigned tried = 0; rc == 0; tried++) {
        rc = try_and_follow(c, &code);
        c->silent = code == CURLE_OPERATION_TIMEDOUT;
        if (rc < 0 || !may_try_again(c, code, tried)) {
            rc = rc < 0 || code == CURLE_OK ? rc : http_fail_transport(c, code);
            break;
        }
        rc = pause_before(c, tried);
        vp_free(c->url);
        c->url = vp_strdup(given);
        rc = c->url ? rc : vp_no_memory();
    }
    if (given)
        OPENSSL_cleanse(given, strlen(given));
    vp_free(given);
    return rc;
}

int http_succeed(http_call *c)
{
    VP_TRY(http_perform(c));
    return c->status >= 200 && c->status < 300 ? 0 : http_failure(c);
}

bool http_may_go_on(const http_call *c, int rc)
{
    return rc == VP_EREMOTE && c->failed == 0 && !c->refused_host;
}
