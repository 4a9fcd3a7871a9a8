#include "server/net/answer/reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/net/answer/encode.h"
#include "server/net/answer/response.h"
#include "server/net/request/request.h"
#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"

/* Minimum size of a compressed response; smaller ones fit into one packet. */
#define GZIP_FROM 1024u

/* Moves the buffer into a response; NULL if it has failed. */
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
        return http_fail(rq, 406, "Accept-Encoding excludes all available encodings");
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

int http_bytes(http_req *rq, int status, vp_buf *b)
{
    if (b->status < 0) {
        vp_buf_free(b);
        return http_error(rq);
    }
    rq->body_bytes = b->n;
    return http_prepare(rq, status, response_of(b), "application/octet-stream", NULL);
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
    case VP_EIO: /* usually a file that was replaced; the next scan lists the new one */
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
    /* The path of the profile directory on this machine is not sent to clients. */
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
    vp_buf_puts(&to, location[0] == '/' ? rq->serving->prefix : "");
    vp_buf_puts(&to, location);
    http_add(&r, "Location", vp_buf_cstr(&to));
    vp_buf_free(&to);
    return http_prepare(rq, 303, r, NULL, NULL);
}

void http_keep(http_req *rq, int64_t ms)
{
    rq->keep_ms = ms;
}
