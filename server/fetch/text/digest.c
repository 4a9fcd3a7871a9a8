#include "server/fetch/text/digest.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <stdint.h>

#include "trace/base/err.h"

bool digest_hmac(vp_str key, vp_str text, unsigned char out[DIGEST_BYTES])
{
    unsigned n = 0;
    return key.n <= INT32_MAX &&
           HMAC(EVP_sha256(), key.p ? key.p : "", (int)key.n, (const unsigned char *)text.p, text.n,
                out, &n) &&
           n == DIGEST_BYTES;
}

void digest_hex(const unsigned char digest[DIGEST_BYTES], char out[DIGEST_HEX])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[2 * DIGEST_BYTES] = '\0';
}

bool digest_sha256_hex(vp_str text, char out[DIGEST_HEX])
{
    unsigned char digest[DIGEST_BYTES];
    unsigned n = 0;
    if (!EVP_Digest(text.p ? text.p : "", text.n, digest, &n, EVP_sha256(), NULL))
        return false;
    digest_hex(digest, out);
    return true;
}

int digest_put_base64(vp_buf *b, vp_str bytes, bool url)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    for (size_t i = 0; i < bytes.n; i += 3) {
        uint32_t v = 0;
        size_t n = bytes.n - i < 3 ? bytes.n - i : 3;
        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (k < n ? (unsigned char)bytes.p[i + k] : 0);
        for (size_t k = 0; k < 4; k++) {
            uint32_t d = v >> (18 - 6 * k) & 63;
            char c = d < 62 ? digits[d] : d == 62 ? (url ? '-' : '+') : (url ? '_' : '/');
            if (k <= n)
                vp_buf_putc(b, c);
            else if (!url)
                vp_buf_putc(b, '=');
        }
    }
    return b->status;
}

static int base64_digit_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

int digest_from_base64(vp_buf *b, vp_str text)
{
    uint32_t v = 0;
    unsigned bits = 0;
    while (text.n && text.p[text.n - 1] == '=')
        text.n--;
    for (size_t i = 0; i < text.n; i++) {
        int d = base64_digit_value(text.p[i]);
        if (d < 0)
            return vp_fail(VP_EARG, "a key in the environment is not valid base64");
        v = v << 6 | (uint32_t)d;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            vp_buf_putc(b, (char)(v >> bits & 255));
        }
    }
    return b->status;
}

static int rs256_sign(vp_buf *b, EVP_PKEY *key, vp_str text)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    size_t n = 0;
    char *room = NULL;
    VP_NEED(ctx);
    bool fine =
        EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key) == 1 &&
        EVP_DigestSign(ctx, NULL, &n, (const unsigned char *)text.p, text.n) == 1 &&
        (room = vp_buf_reserve(b, n + 1)) != NULL &&
        EVP_DigestSign(ctx, (unsigned char *)room, &n, (const unsigned char *)text.p, text.n) == 1;
    EVP_MD_CTX_free(ctx);
    return fine ? vp_buf_wrote(b, n) : vp_fail(VP_EIO, "OpenSSL cannot sign with this key");
}

int digest_rs256(vp_buf *b, vp_str pem, vp_str text)
{
    BIO *in = pem.n <= INT32_MAX ? BIO_new_mem_buf(pem.p, (int)pem.n) : NULL;
    VP_NEED(in);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(in, NULL, NULL, (void *)(uintptr_t) "");
    BIO_free(in);
    int rc = !key                                        ? VP_EARG
             : EVP_PKEY_get_base_id(key) != EVP_PKEY_RSA ? VP_EARG
                                                         : rs256_sign(b, key, text);
    EVP_PKEY_free(key);
    return rc == VP_EARG ? vp_fail(VP_EARG, "the private key of the service account is invalid")
                         : rc;
}

void digest_wipe(vp_buf *b)
{
    if (b->p)
        OPENSSL_cleanse(b->p, b->cap);
    vp_buf_free(b);
}
