#include "server/fetch/credentials/aws_sign.h"

#include <openssl/crypto.h>

#include "server/fetch/text/digest.h"
#include "trace/base/err.h"

#define TEXT_MAX (256u << 10)

static int put_signed_names(const aws_request *r, vp_buf *b)
{
    for (size_t i = 0; i < r->header_n; i++) {
        if (i)
            vp_buf_putc(b, ';');
        vp_buf_str(b, r->headers[i].name);
    }
    return b->status;
}

/* The signed content: every part of the request that must not be changed in transit. */
static int digest_request(const aws_request *r, char out[DIGEST_HEX])
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, TEXT_MAX);
    vp_buf_str(&b, r->method);
    vp_buf_putc(&b, '\n');
    vp_buf_str(&b, r->path);
    vp_buf_putc(&b, '\n');
    vp_buf_str(&b, r->query);
    vp_buf_putc(&b, '\n');
    for (size_t i = 0; i < r->header_n; i++) {
        vp_buf_str(&b, r->headers[i].name);
        vp_buf_putc(&b, ':');
        vp_buf_str(&b, vp_str_trim(r->headers[i].value));
        vp_buf_putc(&b, '\n');
    }
    vp_buf_putc(&b, '\n');
    put_signed_names(r, &b);
    vp_buf_putc(&b, '\n');
    vp_buf_puts(&b, r->payload);
    VP_TRY(b.status);
    return digest_sha256_hex(vp_buf_view(&b), out) ? 0 : VP_EIO;
}

static bool derive_signing_key(const aws_request *r, unsigned char key[DIGEST_BYTES])
{
    const vp_str parts[] = {vp_str_head(r->time, 8), r->region, r->service, VP_STR("aws4_request")};
    vp_buf first;
    vp_buf_init(&first, 4096);
    vp_buf_puts(&first, "AWS4");
    vp_buf_str(&first, r->secret);
    vp_str with = vp_buf_view(&first);
    bool fine = first.status == 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        unsigned char next[DIGEST_BYTES];
        fine = fine && digest_hmac(with, parts[i], next);
        memcpy(key, next, DIGEST_BYTES);
        with = (vp_str){(const char *)key, DIGEST_BYTES};
        OPENSSL_cleanse(next, sizeof next);
    }
    digest_wipe(&first);
    return fine;
}

int aws_sign(const aws_request *r, vp_buf *out)
{
    char hex[DIGEST_HEX];
    unsigned char key[DIGEST_BYTES], signature[DIGEST_BYTES];
    VP_CLEANUP(vp_buf_free) vp_buf scope, text;
    vp_buf_init(&scope, 1024);
    vp_buf_init(&text, 4096);
    vp_buf_printf(&scope, "%.*s/%.*s/%.*s/aws4_request", VP_STR_CUT(r->time, 8),
                  VP_STR_ARG(r->region), VP_STR_ARG(r->service));
    bool fine = digest_request(r, hex) == 0;
    vp_buf_printf(&text, "AWS4-HMAC-SHA256\n%.*s\n%s\n%s", VP_STR_ARG(r->time), vp_buf_cstr(&scope),
                  hex);
    fine = fine && text.status == 0 && derive_signing_key(r, key) &&
           digest_hmac((vp_str){(const char *)key, DIGEST_BYTES}, vp_buf_view(&text), signature);
    OPENSSL_cleanse(key, sizeof key);
    if (!fine)
        return vp_fail(VP_EIO, "cannot sign the request");
    digest_hex(signature, hex);
    vp_buf_printf(out, "AWS4-HMAC-SHA256 Credential=%.*s/%s, SignedHeaders=", VP_STR_ARG(r->key_id),
                  vp_buf_cstr(&scope));
    put_signed_names(r, out);
    return vp_buf_printf(out, ", Signature=%s", hex);
}
