/* Parses the head of a response, and passes on its body. */
#include <stdio.h>

#include "server/fetch/http/http_parts.h"
#include "trace/base/err.h"

void http_begin_answer(http_call *c)
{
    c->status = 0;
    c->length = c->first = c->total = -1;
    c->mtime_ns = c->server_s = c->retry_s = 0;
    c->etag[0] = c->kind[0] = c->location[0] = c->region[0] = c->generation[0] = '\0';
    c->answer.n = 0;
}

static void keep_header_value(char *out, size_t cap, vp_str value)
{
    snprintf(out, cap, "%.*s", VP_STR_CUT(value, cap - 1));
}

/* "bytes 5-9/100"; not satisfiable ranges have a star for the range. */
static void take_content_range(http_call *c, vp_str value)
{
    uint64_t first, last, total;
    if (!vp_str_starts_nocase(value, VP_STR("bytes ")))
        return;
    value = vp_str_skip(value, 6);
    if (vp_take_uint(&value, INT64_MAX, &first)) {
        value = vp_str_skip(value, 1);
        if (!vp_take_uint(&value, INT64_MAX, &last))
            return;
        c->first = (int64_t)first;
    } else {
        value = vp_str_skip(value, 1);
    }
    value = vp_str_skip(value, 1);
    if (vp_take_uint(&value, INT64_MAX, &total))
        c->total = (int64_t)total;
}

static int64_t parse_http_date(vp_str value)
{
    char z[64];
    keep_header_value(z, sizeof z, value);
    time_t t = curl_getdate(z, NULL);
    return t > 0 && t < (int64_t)9e9 ? (int64_t)t : 0;
}

static void take_number_header(http_call *c, vp_str name, vp_str value)
{
    uint64_t n;
    if (vp_str_eq_nocase(name, VP_STR("last-modified")))
        c->mtime_ns = parse_http_date(value) * 1000000000;
    else if (vp_str_eq_nocase(name, VP_STR("date")))
        c->server_s = parse_http_date(value);
    else if (vp_str_eq_nocase(name, VP_STR("content-range")))
        take_content_range(c, value);
    else if (vp_str_eq_nocase(name, VP_STR("content-length")))
        c->length = vp_str_to_u64(value, &n) && n <= INT64_MAX ? (int64_t)n : -1;
    else if (vp_str_eq_nocase(name, VP_STR("retry-after")))
        c->retry_s = vp_str_to_u64(value, &n) && n < 1000 ? (int64_t)n : 0;
}

size_t http_take_header(char *p, size_t size, size_t n, void *arg)
{
    http_call *c = arg;
    vp_str line = {p, size * n}, name;
    while (line.n && (line.p[line.n - 1] == '\n' || line.p[line.n - 1] == '\r'))
        line.n--;
    if (vp_str_starts(line, VP_STR("HTTP/"))) {
        http_begin_answer(c);
        return size * n;
    }
    if (!vp_take_until(&line, ':', line.n, &name))
        return size * n;
    vp_str value = vp_str_trim(line);
    if (vp_str_eq_nocase(name, VP_STR("etag")))
        keep_header_value(c->etag, value.n < sizeof c->etag ? sizeof c->etag : 1, value);
    else if (vp_str_eq_nocase(name, VP_STR("content-type")))
        keep_header_value(c->kind, sizeof c->kind, value);
    else if (vp_str_eq_nocase(name, VP_STR("location")))
        keep_header_value(c->location, value.n < sizeof c->location ? sizeof c->location : 1,
                          value);
    else if (vp_str_eq_nocase(name, VP_STR("x-amz-bucket-region")))
        keep_header_value(c->region, sizeof c->region, value);
    else if (vp_str_eq_nocase(name, VP_STR("x-goog-generation")))
        keep_header_value(c->generation, sizeof c->generation, value);
    else
        take_number_header(c, name, value);
    return size * n;
}

size_t http_take_body(char *p, size_t size, size_t n, void *arg)
{
    http_call *c = arg;
    size_t bytes = size * n;
    (void)curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &c->status);
    bool fine = c->status >= 200 && c->status < 300;
    if (!fine) { /* only its beginning is read */
        size_t room = c->answer.n < HTTP_SAID_MAX ? HTTP_SAID_MAX - c->answer.n : 0;
        vp_buf_put(&c->answer, p, bytes < room ? bytes : room);
        return bytes;
    }
    if (c->write) {
        c->written += (int64_t)bytes;
        c->failed = c->write(c->ctx, p, bytes);
    } else if (vp_buf_put(&c->answer, p, bytes) < 0) {
        c->failed = vp_fail(VP_ELIMIT, "the response is larger than %u MB", HTTP_ANSWER_MAX >> 20);
    }
    return c->failed < 0 ? 0 : bytes;
}
