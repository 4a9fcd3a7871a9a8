#include "server/fetch/credentials/azure_key.h"

#include "server/fetch/text/digest.h"
#include "server/fetch/text/url.h"
#include "trace/base/err.h"

#define TEXT_MAX (64u << 10)
#define OWN_MAX 12u

static bool next_line(vp_str *lines, vp_str *name, vp_str *value)
{
    vp_str line;
    if (!lines->n || !vp_take_until(lines, '\0', lines->n, &line) ||
        !vp_take_until(&line, ':', line.n, name))
        return false;
    *value = vp_str_trim(line);
    return true;
}

static void put_canonical_header(const azure_request *r, const char *wanted, vp_buf *out)
{
    vp_str name, value, lines[] = {r->headers, r->more};
    for (size_t i = 0; i < 2; i++)
        while (next_line(&lines[i], &name, &value))
            if (vp_str_eq_nocase(name, vp_str_of(wanted)))
                vp_buf_str(out, value);
}

typedef struct own_header {
    vp_str name, value;
} own_header;

static int compare_header_names(vp_str a, vp_str b)
{
    int by = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);
    return by ? by : a.n < b.n ? -1 : a.n > b.n;
}

/* x-ms-… headers, with lower-case names in sorted order. */
static int put_ms_headers(const azure_request *r, vp_buf *out)
{
    own_header own[OWN_MAX], one;
    size_t n = 0;
    vp_str lines[] = {r->headers, r->more};
    for (size_t i = 0; i < 2; i++)
        while (next_line(&lines[i], &one.name, &one.value)) {
            size_t at = n;
            if (!vp_str_starts(one.name, VP_STR("x-ms-")))
                continue;
            if (n == OWN_MAX)
                return vp_fail(VP_ELIMIT, "too many headers to sign");
            for (; at && compare_header_names(own[at - 1].name, one.name) > 0; at--)
                own[at] = own[at - 1];
            own[at] = one;
            n++;
        }
    for (size_t i = 0; i < n; i++) {
        vp_buf_str(out, own[i].name);
        vp_buf_putc(out, ':');
        vp_buf_str(out, own[i].value);
        vp_buf_putc(out, '\n');
    }
    return out->status;
}

static int put_resource(const azure_request *r, vp_buf *out)
{
    vp_str query = r->query, one, name;
    vp_buf_putc(out, '/');
    vp_buf_str(out, r->account);
    vp_buf_str(out, r->path);
    while (query.n) {
        if (!vp_take_until(&query, '&', query.n, &one))
            one = query, query.n = 0;
        if (!vp_take_until(&one, '=', one.n, &name))
            name = one, one.n = 0;
        vp_buf_putc(out, '\n');
        vp_buf_str(out, name);
        vp_buf_putc(out, ':');
        url_decode(out, one);
    }
    return out->status;
}

int azure_key_text(const azure_request *r, vp_buf *out)
{
    static const char *const usual[] = {"content-md5",         "content-type", "date",
                                        "if-modified-since",   "if-match",     "if-none-match",
                                        "if-unmodified-since", "range"};
    vp_buf_str(out, r->method);
    vp_buf_puts(out, "\n\n\n"); /* no encoding, no language */
    if (r->body_n > 0)
        vp_buf_i64(out, r->body_n);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        vp_buf_putc(out, '\n');
        put_canonical_header(r, usual[i], out);
    }
    vp_buf_putc(out, '\n');
    VP_TRY(put_ms_headers(r, out));
    return put_resource(r, out);
}

int azure_key_sign(const azure_request *r, vp_str key, vp_buf *out)
{
    unsigned char signature[DIGEST_BYTES];
    vp_buf plain, text;
    vp_buf_init(&plain, 4096);
    vp_buf_init(&text, TEXT_MAX);
    int rc = digest_from_base64(&plain, key);
    if (rc == 0)
        rc = azure_key_text(r, &text);
    if (rc == 0 && !digest_hmac(vp_buf_view(&plain), vp_buf_view(&text), signature))
        rc = vp_fail(VP_EIO, "cannot sign the request");
    digest_wipe(&plain);
    digest_wipe(&text);
    VP_TRY(rc);
    vp_buf_printf(out, "SharedKey %.*s:", VP_STR_ARG(r->account));
    return digest_put_base64(out, (vp_str){(const char *)signature, DIGEST_BYTES}, false);
}
