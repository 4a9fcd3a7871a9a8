#include "server/fetch/grpc/grpc_call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/log.h"

#define SERVICE "/tensorflow.ProfilerService/"
#define CONNECT_MS 10000L
#define BUFFER (100L << 10)
/* gRPC limits the timeout to eight digits: 27 hours in ms. */
#define TIMEOUT_MAX_MS 99999999

/* ---- What comes ------------------------------------------------------------------------------ */

static size_t grpc_take_body(char *p, size_t size, size_t n, void *arg)
{
    grpc_call *c = arg;
    c->body_bytes += (int64_t)(size * n);
    if (c->is_grpc && c->failed >= 0)
        c->failed = c->write(c->ctx, p, size * n);
    return c->failed < 0 ? 0 : size * n;
}

static int hex_digit_or_minus_1(char c)
{
    c = vp_lower(c);
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A status message: decodes %XX, and escapes control characters. */
static void take_status_message(grpc_call *c, vp_str s)
{
    char plain[200];
    size_t n = 0;
    for (size_t i = 0; i < s.n && n < sizeof plain; i++) {
        bool coded = s.p[i] == '%' && i + 2 < s.n && hex_digit_or_minus_1(s.p[i + 1]) >= 0 &&
                     hex_digit_or_minus_1(s.p[i + 2]) >= 0;
        plain[n++] =
            coded ? (char)(hex_digit_or_minus_1(s.p[i + 1]) * 16 + hex_digit_or_minus_1(s.p[i + 2]))
                  : s.p[i];
        i += coded ? 2 : 0;
    }
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, 8 * sizeof plain);
    vp_put_escaped(&b, vp_str_trim((vp_str){plain, n}));
    snprintf(c->message, sizeof c->message, "%s", vp_buf_cstr(&b));
}

static size_t take_header(char *p, size_t size, size_t n, void *arg)
{
    grpc_call *c = arg;
    vp_str line = {p, size * n}, name;
    uint64_t status;
    while (line.n && (line.p[line.n - 1] == '\n' || line.p[line.n - 1] == '\r'))
        line.n--;
    if (!vp_take_until(&line, ':', line.n, &name))
        return size * n;
    vp_str value = vp_str_trim(line);
    if (vp_str_eq_nocase(name, VP_STR("content-type")))
        c->is_grpc = vp_str_starts_nocase(value, VP_STR("application/grpc"));
    else if (vp_str_eq_nocase(name, VP_STR("grpc-status")))
        c->status = vp_str_to_u64(value, &status) && status < 1000 ? (int)status : 2;
    else if (vp_str_eq_nocase(name, VP_STR("grpc-message")))
        take_status_message(c, value);
    return size * n;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* http://HOST:PORT/…, built by libcurl's own parser, so that both interpret it equally. */
static int grpc_set_url(grpc_call *c, vp_str target, const char *method)
{
    char host[256], path[96];
    size_t colon = vp_str_rfind_char(target, ':');
    vp_str port = vp_str_skip(target, colon + 1);
    uint64_t number;
    if (colon == target.n || !colon || colon >= sizeof host || !vp_str_to_u64(port, &number) ||
        !number || number > 65535)
        return vp_fail(VP_EARG, "\"%.*s\" is not HOST:PORT", VP_STR_CUT(target, 100));
    snprintf(host, sizeof host, "%.*s", (int)colon, target.p);
    snprintf(path, sizeof path, SERVICE "%s", method);
    char decimal[24];
    snprintf(decimal, sizeof decimal, "%u", (unsigned)number);
    CURLU *u = curl_url();
    VP_NEED(u);
    bool fine = !curl_url_set(u, CURLUPART_SCHEME, "http", 0) &&
                !curl_url_set(u, CURLUPART_HOST, host, 0) &&
                !curl_url_set(u, CURLUPART_PORT, decimal, 0) &&
                !curl_url_set(u, CURLUPART_PATH, path, 0);
    char *url = NULL;
    fine = fine && !curl_url_get(u, CURLUPART_URL, &url, 0);
    fine = fine && !curl_easy_setopt(c->easy, CURLOPT_URL, url);
    curl_free(url);
    curl_url_cleanup(u);
    return fine ? 0 : vp_fail(VP_EARG, "\"%.*s\" is not HOST:PORT", VP_STR_CUT(target, 100));
}

static int add_header(grpc_call *c, const char *line)
{
    struct curl_slist *longer = curl_slist_append(c->headers, line);
    VP_NEED(longer);
    c->headers = longer;
    return 0;
}

static int set_headers(grpc_call *c, int64_t timeout_ms)
{
    char timeout[48];
    snprintf(timeout, sizeof timeout, "grpc-timeout: %lldm",
             (long long)(timeout_ms < TIMEOUT_MAX_MS ? timeout_ms : TIMEOUT_MAX_MS));
    VP_TRY(add_header(c, "content-type: application/grpc"));
    VP_TRY(add_header(c, "te: trailers"));
    VP_TRY(add_header(c, "user-agent: view_profile/" VP_VERSION));
    VP_TRY(add_header(c, "accept:"));
    VP_TRY(add_header(c, "expect:"));
    return add_header(c, timeout);
}

static int grpc_put_request(grpc_call *c, vp_str message)
{
    unsigned char head[5] = {0, (unsigned char)(message.n >> 24), (unsigned char)(message.n >> 16),
                             (unsigned char)(message.n >> 8), (unsigned char)message.n};
    vp_buf_init(&c->request, sizeof head + message.n + 1);
    vp_buf_put(&c->request, head, sizeof head);
    return vp_buf_str(&c->request, message);
}

static int set_all(grpc_call *c)
{
    const struct {
        CURLoption option;
        long value;
    } numbers[] = {
        {CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE},
        {CURLOPT_FOLLOWLOCATION, 0},
        {CURLOPT_NOSIGNAL, 1},
        {CURLOPT_TCP_KEEPALIVE, 1},
        {CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS},
        {CURLOPT_BUFFERSIZE, BUFFER},
        {CURLOPT_POSTFIELDSIZE, (long)c->request.n},
    };
    const struct {
        CURLoption option;
        const void *value;
    } pointers[] = {
        {CURLOPT_PROTOCOLS_STR, "http"},
        {CURLOPT_PROXY, ""},
        {CURLOPT_NOPROXY, "*"},
        {CURLOPT_HTTPHEADER, c->headers},
        {CURLOPT_POSTFIELDS, c->request.p},
        {CURLOPT_ERRORBUFFER, c->curl_says},
        {CURLOPT_PRIVATE, c},
        {CURLOPT_HEADERDATA, c},
        {CURLOPT_WRITEDATA, c},
    };
    CURLcode code = curl_easy_setopt(c->easy, CURLOPT_HEADERFUNCTION, take_header);
    if (!code)
        code = curl_easy_setopt(c->easy, CURLOPT_WRITEFUNCTION, grpc_take_body);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !code; i++)
        code = curl_easy_setopt(c->easy, numbers[i].option, numbers[i].value);
    for (size_t i = 0; i < sizeof pointers / sizeof *pointers && !code; i++)
        code = curl_easy_setopt(c->easy, pointers[i].option, pointers[i].value);
    return code ? vp_fail(VP_EUNSUPPORTED, "not supported by this libcurl: %s",
                          curl_easy_strerror(code))
                : 0;
}

int grpc_call_open(grpc_call *c, vp_str target, const char *method, vp_str message,
                   int64_t timeout_ms, vp_write_fn *write, void *ctx)
{
    *c = (grpc_call){.write = write, .ctx = ctx, .status = GRPC_NO_STATUS};
    VP_TRY(grpc_put_request(c, message));
    c->easy = curl_easy_init();
    VP_NEED(c->easy);
    VP_TRY(grpc_set_url(c, target, method));
    VP_TRY(set_headers(c, timeout_ms));
    return set_all(c);
}

void grpc_call_close(grpc_call *c)
{
    curl_easy_cleanup(c->easy);
    curl_slist_free_all(c->headers);
    vp_buf_free(&c->request);
    c->easy = NULL;
    c->headers = NULL;
}

/* ---- The verdict ----------------------------------------------------------------------------- */

/* The meaning of each status. */
static const struct {
    int status, code;
    const char *says;
} statuses[] = {
    {1, VP_ECANCELLED, "canceled by the server"},
    {3, VP_EARG, "the server rejects the options of this capture"},
    {GRPC_DEADLINE, VP_EREMOTE, "timed out on the server"},
    {6, VP_EBUSY, "busy with another capture"},
    {7, VP_EREFUSED, "permission denied by the server"},
    {8, VP_EBUSY, "the server is out of resources"},
    {9, VP_EBUSY, "busy with another capture"},
    {GRPC_UNIMPLEMENTED, VP_EUNSUPPORTED,
     "this gRPC server has no profiler; check that this is the port of jax.profiler.start_server"},
    {14, VP_EBUSY, "unavailable"},
    {16, VP_EREFUSED, "permission denied by the server"},
};

/* JAX reports INTERNAL with this text if a session is active. */
static bool says_busy(const grpc_call *c)
{
    vp_str s = vp_str_of(c->message);
    return vp_str_find_nocase(s, VP_STR("another profil")) < s.n ||
           vp_str_find_nocase(s, VP_STR("session active")) < s.n;
}

static int grpc_fail_status(const grpc_call *c)
{
    const char *says = "server error";
    int code = VP_EREMOTE;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == c->status) {
            says = statuses[i].says;
            code = statuses[i].code;
        }
    if (code == VP_EREMOTE && says_busy(c)) {
        says = "busy with another capture";
        code = VP_EBUSY;
    }
    return vp_fail(code, "%s (gRPC status %d%s%s)", says, c->status, c->message[0] ? ": " : "",
                   c->message);
}

static bool was_connected(const grpc_call *c)
{
    curl_off_t us = 0;
    return !curl_easy_getinfo(c->easy, CURLINFO_CONNECT_TIME_T, &us) && us > 0;
}

static int grpc_fail_transport(const grpc_call *c, CURLcode code)
{
    long http = 0, os = 0;
    (void)curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &http);
    (void)curl_easy_getinfo(c->easy, CURLINFO_OS_ERRNO, &os);
    const char *why = c->curl_says[0] ? c->curl_says : curl_easy_strerror(code);
    if (code == CURLE_COULDNT_RESOLVE_HOST)
        return vp_fail(VP_ENOTFOUND, "host not found");
    if (code == CURLE_COULDNT_CONNECT && os)
        return vp_fail(VP_ENOTFOUND, "cannot connect: %s%s", strerror((int)os),
                       os == ECONNREFUSED
                           ? "; check that the program has called jax.profiler.start_server"
                           : "");
    if (code == CURLE_OPERATION_TIMEDOUT && was_connected(c))
        return vp_fail(VP_EREMOTE, "timed out");
    if (!was_connected(c))
        return vp_fail(VP_ENOTFOUND, "cannot connect: %s", why);
    /* When a stream is reset, libcurl discards the data before it. */
    if (code == CURLE_OK || (!http && !c->body_bytes && code != CURLE_HTTP2_STREAM))
        return vp_fail(
            VP_EUNSUPPORTED,
            "not a gRPC server; check that this is the port of jax.profiler.start_server");
    return vp_fail(VP_EREMOTE, "connection lost after %lld bytes: %s", (long long)c->body_bytes,
                   why);
}

int grpc_call_verdict(grpc_call *c, CURLcode code)
{
    long http = 0;
    if (c->failed < 0)
        return c->failed; /* recorded on this thread by write */
    if (c->status > GRPC_OK)
        return grpc_fail_status(c);
    (void)curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &http);
    if (c->status == GRPC_OK && code == CURLE_OK && http == 200 && c->is_grpc)
        return 0;
    if (http && (http != 200 || !c->is_grpc))
        return vp_fail(VP_EUNSUPPORTED,
                       "a web server (HTTP %ld), not a profiler; check that this is the port of "
                       "jax.profiler.start_server",
                       http);
    if (code == CURLE_OK && c->is_grpc)
        return vp_fail(VP_ECORRUPT, "the response ended without a gRPC status, after %lld bytes",
                       (long long)c->body_bytes);
    return grpc_fail_transport(c, code);
}

int64_t grpc_call_status(const grpc_call *c, CURLcode code)
{
    if (c->status > GRPC_OK)
        return c->status;
    return code == CURLE_OPERATION_TIMEDOUT && was_connected(c) ? GRPC_DEADLINE : 0;
}
