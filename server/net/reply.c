/* Answers and their headers: the only place where they are put together. */
#include <stdarg.h>
#include <stdio.h>

#include "server/net/encode.h"
#include "server/net/request.h"
#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"

/* Smaller answers fit one packet anyway. */
#define GZIP_FROM 1024u

/* ---- Headers: the only place -------------------------------------------------------------- */

static const http_extra every_answer[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
     "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    /* Not same-origin: the page opens Perfetto and talks to it through window.opener. */
    {"Cross-Origin-Opener-Policy", "same-origin-allow-popups"},
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

void http_add_policy(struct MHD_Response **r)
{
    for (size_t i = 0; i < sizeof every_answer / sizeof *every_answer; i++)
        http_add(r, every_answer[i].name, every_answer[i].value);
}

static void keep(void *constant)
{
    (void)constant;
}

struct MHD_Response *http_constant_response(const void *p, size_t n)
{
    return MHD_create_response_from_buffer_with_free_callback(n, (void *)(uintptr_t)p, keep);
}

struct MHD_Response *http_empty_response(void)
{
    static char nothing[1];
    return http_constant_response(nothing, 0);
}

static void add_cors(http_req *rq, struct MHD_Response **r)
{
    char origin[300];
    vp_str o = rq->verdict.origin_text;
    http_add(r, "Vary", "Accept-Encoding, Origin"); /* on refusals too: caches keep what they get */
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
        return "no-store"; /* 303: with a cookie, or to where it leads at this moment */
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
    http_add_policy(r);
    http_add(r, "Cache-Control", cache_rule(rq, status, e));
    if (e)
        add_validators(status, r, e);
    if (rq->extra.name)
        http_add(r, rq->extra.name, rq->extra.value);
    if (rq->route && (rq->route->flags & HTTP_CORS)) {
        add_cors(rq, r);
        return;
    }
    http_add(r, "Cross-Origin-Resource-Policy", "same-origin");
    if (status == 403)
        http_add(r, "Vary", "Accept-Encoding, Origin"); /* whoever else asks may be answered */
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

/* ---- Bodies in memory ----------------------------------------------------------------------- */

/* Moves the buffer into a response; NULL when it failed on the way. */
static struct MHD_Response *response_of(vp_buf *b)
{
    size_t n;
    if (!b->status && !b->n)
        return http_empty_response();
    char *p = vp_buf_take(b, &n);
    struct MHD_Response *r =
        p ? MHD_create_response_from_buffer_with_free_callback(n, p, vp_free) : NULL;
    if (!r)
        vp_free(p);
    return r;
}

static int send_buffer(http_req *rq, int status, vp_buf *b, const char *type)
{
    vp_buf packed = {0};
    bool gzipped = false, wanted = http_wants_gzip(rq);
    if (b->status < 0) {
        vp_buf_free(b);
        return http_error(rq);
    }
    if (status < 400 && http_coding_of(rq, true) == HTTP_NO_CODING) {
        vp_buf_free(b);
        return http_fail(rq, 406, "Accept-Encoding refuses everything that there is");
    }
    if (wanted && b->n >= GZIP_FROM)
        gzipped = !http_gzip_buffer(&packed, vp_buf_view(b));
    rq->body_bytes = gzipped ? packed.n : b->n;
    struct MHD_Response *r = response_of(gzipped ? &packed : b);
    vp_buf_free(&packed);
    vp_buf_free(b);
    if (gzipped)
        http_add(&r, "Content-Encoding", "gzip");
    return http_prepare(rq, status, r, type, NULL);
}

int http_html(http_req *rq, int status, vp_buf *b)
{
    return send_buffer(rq, status, b, "text/html; charset=utf-8");
}

int http_json(http_req *rq, int status, vp_buf *b)
{
    return send_buffer(rq, status, b, "application/json");
}

static int send_text(http_req *rq, int status, vp_str text)
{
    bool json = rq->route && (rq->route->flags & HTTP_API) && status >= 400;
    vp_buf b;
    vp_buf_init(&b, 16u << 10);
    if (json) {
        vp_json j;
        vp_json_init(&j, &b);
        vp_json_begin_object(&j);
        vp_json_kstr(&j, "error", text);
        vp_json_end_object(&j);
    } else {
        vp_put_escaped(&b, text);
    }
    vp_buf_putc(&b, '\n');
    rq->body_bytes = b.n;
    return http_prepare(rq, status, response_of(&b),
                        json ? "application/json" : "text/plain; charset=utf-8", NULL);
}

int http_plain(http_req *rq, int status, vp_buf *b, const char *type)
{
    return send_buffer(rq, status, b, type);
}

int http_text(http_req *rq, int status, const char *text)
{
    return send_text(rq, status, vp_str_of(text));
}

int http_fail(http_req *rq, int status, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return send_text(rq, status, vp_str_of(text));
}

int http_status_of(int code)
{
    switch (code) {
    case VP_EARG:
        return 400;
    case VP_ENOTFOUND:
        return 404;
    case VP_EREFUSED:
        return 403;
    case VP_ECORRUPT:
    case VP_EUNSUPPORTED:
    case VP_EEMPTY:
        return 422;
    case VP_ELIMIT:
        return 413;
    case VP_EIO: /* a file that is another one by now, as a rule: the list will know */
    case VP_ENOMEM:
    case VP_EBUSY:
    case VP_ECANCELLED:
        return 503;
    case VP_EREMOTE:
        return 502;
    default:
        return 500;
    }
}

int http_error(http_req *rq)
{
    const vp_error *err = vp_error_last();
    vp_error shown = *err;
    char line[900];
    /* Where the profile directory lies on this machine is nobody's business. */
    if (shown.path[0] == '/') {
        const char *base = strrchr(err->path, '/') + 1;
        snprintf(shown.path, sizeof shown.path, "%s", base);
    }
    if (!err->code)
        return http_fail(rq, 500, "internal error");
    return http_fail(rq, http_status_of(err->code), "%s", vp_error_line(&shown, line, sizeof line));
}

int http_redirect(http_req *rq, const char *location)
{
    vp_buf to;
    struct MHD_Response *r = http_empty_response();
    vp_buf_init(&to, VP_HTTP_TARGET_MAX + HTTP_PREFIX_MAX);
    vp_buf_puts(&to, location[0] == '/' ? rq->server->prefix : "");
    vp_buf_puts(&to, location);
    http_add(&r, "Location", vp_buf_cstr(&to));
    vp_buf_free(&to);
    return http_prepare(rq, 303, r, NULL, NULL);
}
