#include "server/net/answer/response.h"

#include <string.h>

#include "server/net/request/request.h"

/* The policy of our pages: no external resources, no inline scripts or styles. */
static const char own_content[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

static const http_extra every_answer[] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Permissions-Policy",
     "accelerometer=(), camera=(), display-capture=(), fullscreen=(), geolocation=(), "
     "gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()"},
};

void http_add(struct MHD_Response **r, const char *name, const char *value)
{
    if (*r && MHD_add_response_header(*r, name, value) != MHD_YES) {
        MHD_destroy_response(*r);
        *r = NULL;
    }
}

void http_add_policy(struct MHD_Response **r, const char *content_policy)
{
    http_add(r, "Content-Security-Policy", content_policy ? content_policy : own_content);
    /* Not same-origin: our page opens Perfetto and exchanges messages with it. A window opened from
     * another port keeps its opener only without this header. */
    http_add(r, "Cross-Origin-Opener-Policy",
             content_policy ? "unsafe-none" : "same-origin-allow-popups");
    for (size_t i = 0; i < sizeof every_answer / sizeof *every_answer; i++)
        http_add(r, every_answer[i].name, every_answer[i].value);
}

static void keep_constant(void *constant)
{
    (void)constant;
}

struct MHD_Response *http_constant_response(const void *p, size_t n)
{
    return MHD_create_response_from_buffer_with_free_callback(n, (void *)(uintptr_t)p,
                                                              keep_constant);
}

struct MHD_Response *http_empty_response(void)
{
    static char nothing[1];
    return http_constant_response(nothing, 0);
}

/* attachment; filename="ascii"; filename*=UTF-8''percent (RFC 6266). */
void http_add_disposition(struct MHD_Response **r, const char *filename)
{
    vp_buf b;
    vp_buf_init(&b, 8u << 10);
    vp_buf_puts(&b, "attachment; filename=\"");
    for (const unsigned char *p = (const unsigned char *)filename; *p; p++)
        vp_buf_putc(&b, *p < 0x20 || *p == '"' || *p == '\\' || *p >= 0x7f ? '_' : (char)*p);
    vp_buf_puts(&b, "\"; filename*=UTF-8''");
    for (const unsigned char *p = (const unsigned char *)filename; *p; p++) {
        bool plain = (*p >= '0' && *p <= '9') || ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z') ||
                     *p == '-' || *p == '.' || *p == '_' || *p == '~';
        if (plain)
            vp_buf_putc(&b, (char)*p);
        else
            vp_buf_printf(&b, "%%%02X", *p);
    }
    http_add(r, "Content-Disposition", vp_buf_cstr(&b));
    vp_buf_free(&b);
}

bool http_may_be_read_elsewhere(const http_req *rq, int status)
{
    return rq->route ? rq->route->flags & HTTP_CORS : status == 404;
}

static void add_cors(http_req *rq, struct MHD_Response **r)
{
    char origin[300];
    vp_str o = rq->verdict.origin_text;
    http_add(r, "Vary",
             "Accept-Encoding, Origin"); /* also on error responses, which a cache may store */
    if (rq->verdict.origin != GUARD_LISTED_ORIGIN || o.n >= sizeof origin) {
        http_add(r, "Cross-Origin-Resource-Policy", "same-origin");
        return;
    }
    memcpy(origin, o.p, o.n);
    origin[o.n] = 0;
    http_add(r, "Access-Control-Allow-Origin", origin);
    http_add(r, "Access-Control-Expose-Headers",
             "Content-Length, Content-Range, ETag, Accept-Ranges");
}

static const char *cache_rule(const http_req *rq, int status, const http_entity *e)
{
    if (status >= 400 || status == 303 || !rq->route || (rq->route->flags & HTTP_API))
        return "no-store"; /* a 303 sets a cookie, or its target is only temporarily valid */
    return e && e->immutable ? "public, max-age=31536000, immutable" : "no-cache";
}

static void add_validators(int status, struct MHD_Response **r, const http_entity *e)
{
    char date[HTTP_DATE_SIZE];
    http_last_modified(date, e);
    if (e->etag[0])
        http_add(r, "ETag", e->etag);
    if (date[0])
        http_add(r, "Last-Modified", date);
    if (e->gzipped && (status == 200 || status == 206))
        http_add(r, "Content-Encoding", "gzip");
}

static void add_headers(http_req *rq, int status, struct MHD_Response **r, const char *type,
                        const http_entity *e)
{
    if (type)
        http_add(r, "Content-Type", type);
    http_add_policy(r, rq->serving->content_policy);
    http_add(r, "Cache-Control", cache_rule(rq, status, e));
    if (e)
        add_validators(status, r, e);
    if (rq->extra.name)
        http_add(r, rq->extra.name, rq->extra.value);
    if (http_may_be_read_elsewhere(rq, status)) {
        add_cors(rq, r);
        return;
    }
    http_add(r, "Cross-Origin-Resource-Policy", "same-origin");
    if (status == 403)
        http_add(r, "Vary",
                 "Accept-Encoding, Origin"); /* another client may get a different response */
    else if (rq->vary_encoding)
        http_add(r, "Vary", "Accept-Encoding");
}

int http_prepare(http_req *rq, int status, struct MHD_Response *r, const char *type,
                 const http_entity *e)
{
    add_headers(rq, status, &r, type, e);
    if (!r) {
        status = 500;
        rq->body_bytes = 0;
        r = http_empty_response();
        add_headers(rq, status, &r, NULL, NULL);
    }
    if (rq->response)
        MHD_destroy_response(rq->response);
    rq->response = r;
    rq->status = (unsigned)status;
    return 0;
}
