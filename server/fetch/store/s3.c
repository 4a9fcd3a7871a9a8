#include "server/fetch/store/s3.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/fetch/credentials/aws_sign.h"
#include "server/fetch/text/digest.h"
#include "server/fetch/text/ini_file.h"
#include "server/fetch/text/url.h"
#include "trace/base/err.h"

/* ---- Addresses ------------------------------------------------------------------------------- */

/* Names that a certificate for *.s3.REGION.amazonaws.com does not cover are sent in the path. */
static bool is_host_name(vp_str bucket)
{
    for (size_t i = 0; i < bucket.n; i++)
        if (bucket.p[i] != '-' && !(bucket.p[i] >= 'a' && bucket.p[i] <= 'z') &&
            !(bucket.p[i] >= '0' && bucket.p[i] <= '9'))
            return false;
    return bucket.n >= 3 && bucket.n <= 63;
}

static int s3_put_url(const s3_place *p, vp_str key, vp_str query, vp_buf *b)
{
    if (p->endpoint[0]) {
        vp_buf_printf(b, "%s/", p->endpoint);
        url_encode(b, p->bucket, false);
    } else if (is_host_name(p->bucket)) {
        vp_buf_printf(b, "https://%.*s.s3.%s.amazonaws.com", VP_STR_ARG(p->bucket), p->region);
    } else {
        vp_buf_printf(b, "https://s3.%s.amazonaws.com/", p->region);
        url_encode(b, p->bucket, false);
    }
    vp_buf_putc(b, '/');
    if (!key.n && p->endpoint[0])
        b->n--; /* the path of a bucket without trailing '/', as all servers accept it */
    url_encode(b, key, true);
    if (query.n)
        vp_buf_putc(b, '?');
    return vp_buf_str(b, query);
}

/* The region of an AWS bucket, which AWS returns without credentials. Cached for the next request.
 */
static void find_region(s3_place *p)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char bucket[64], region[64];
    http_call c;
    pthread_mutex_lock(&lock);
    if (vp_str_eq(vp_str_of(bucket), p->bucket))
        snprintf(p->region, sizeof p->region, "%s", region);
    else if (is_host_name(p->bucket)) {
        char url[256];
        snprintf(url, sizeof url, "https://%.*s.s3.amazonaws.com/", VP_STR_ARG(p->bucket));
        if (http_begin(&c, p->ask, "HEAD", vp_str_of(url)) == 0 && http_perform(&c) == 0 &&
            c.region[0]) {
            snprintf(bucket, sizeof bucket, "%.*s", VP_STR_ARG(p->bucket));
            snprintf(region, sizeof region, "%s", c.region);
            snprintf(p->region, sizeof p->region, "%s", region);
        }
        http_end(&c);
    }
    pthread_mutex_unlock(&lock);
}

static void find_endpoint(s3_place *p)
{
    const char *own = ini_env("AWS_ENDPOINT_URL_S3");
    own = own ? own : ini_env("AWS_ENDPOINT_URL");
    if (own)
        snprintf(p->endpoint, sizeof p->endpoint, "%s", own);
    else if (!aws_setting("endpoint_url", p->endpoint, sizeof p->endpoint))
        p->endpoint[0] = '\0';
    for (size_t n = strlen(p->endpoint); n && p->endpoint[n - 1] == '/'; n--)
        p->endpoint[n - 1] = '\0';
}

/* ---- Signing --------------------------------------------------------------------------------- */

static void take_url(const char *url, vp_str *host, vp_str *path, vp_str *query)
{
    vp_str s = vp_str_of(url);
    s = vp_str_skip(s, vp_str_find(s, VP_STR("://")) + 3);
    *path = vp_str_skip(s, vp_str_find(s, VP_STR("/")));
    *host = vp_str_head(s, s.n - path->n);
    size_t n = vp_str_find(*path, VP_STR("?"));
    *query = vp_str_skip(*path, n + 1);
    *path = path->n ? vp_str_head(*path, n) : VP_STR("/");
}

static int s3_authorize_call(void *of, http_call *c)
{
    s3_place *p = of;
    char payload[DIGEST_HEX], now[20];
    time_t t = time(NULL);
    struct tm tm;
    vp_str host, path, query;
    VP_TRY(aws_credentials_get(p->ask, &p->keys));
    strftime(now, sizeof now, "%Y%m%dT%H%M%SZ", gmtime_r(&t, &tm));
    if (!digest_sha256_hex(c->body, payload))
        return vp_fail(VP_EIO, "cannot sign the request");
    take_url(c->url, &host, &path, &query);
    const aws_signed_header headers[] = {
        {VP_STR_INIT("host"), host},
        {VP_STR_INIT("x-amz-content-sha256"), vp_str_of(payload)},
        {VP_STR_INIT("x-amz-date"), vp_str_of(now)},
        {VP_STR_INIT("x-amz-security-token"), vp_str_of(p->keys.token)}};
    const aws_request r = {.key_id = vp_str_of(p->keys.id),
                           .secret = vp_str_of(p->keys.secret),
                           .region = vp_str_of(p->region),
                           .service = VP_STR("s3"),
                           .time = vp_str_of(now),
                           .method = vp_str_of(c->method),
                           .path = path,
                           .query = query,
                           .headers = headers,
                           .header_n = p->keys.token[0] ? 4 : 3,
                           .payload = payload};
    vp_buf value;
    vp_buf_init(&value, 4096);
    int rc = aws_sign(&r, &value);
    for (size_t i = 0; rc == 0 && i < r.header_n; i++)
        rc = http_sign(c, "%.*s: %.*s", VP_STR_ARG(headers[i].name), VP_STR_ARG(headers[i].value));
    if (rc == 0)
        rc = http_sign(c, "Authorization: %s", vp_buf_cstr(&value));
    digest_wipe(&value);
    return rc;
}

int s3_begin(s3_place *p, http_call *c, const char *method, vp_str key, vp_str query)
{
    VP_CLEANUP(vp_buf_free) vp_buf url;
    vp_buf_init(&url, 2 * FETCH_ASK_MAX);
    s3_put_url(p, key, query, &url);
    int rc = http_begin(c, p->ask, method, vp_buf_view(&url));
    if (p->ask->is_unsigned)
        return rc;
    c->authorize = s3_authorize_call;
    c->authority = p;
    return rc;
}

void s3_find_place(s3_place *p)
{
    aws_region(p->region, sizeof p->region);
    find_endpoint(p);
    if (!p->endpoint[0])
        find_region(p);
}
