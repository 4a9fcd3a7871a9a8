/* Digests, HMACs, signatures and their encodings, by OpenSSL. */
#ifndef VP_FETCH_DIGEST_H
#define VP_FETCH_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/base/buf.h"
#include "trace/base/str.h"

#define DIGEST_BYTES 32u
#define DIGEST_HEX (2 * DIGEST_BYTES + 1)

/* HMAC-SHA256. false: OpenSSL failed. */
bool digest_hmac(vp_str key, vp_str text, unsigned char out[DIGEST_BYTES]);
/* SHA-256 in lower-case digits. */
bool digest_sha256_hex(vp_str text, char out[DIGEST_HEX]);
void digest_hex(const unsigned char digest[DIGEST_BYTES], char out[DIGEST_HEX]);
/* url: with - and _ instead of + and /, and without padding. */
int digest_put_base64(vp_buf *b, vp_str bytes, bool url);
/* VP_EARG: not base64. */
int digest_from_base64(vp_buf *b, vp_str text);
/* RS256: a signature by the private key of a PEM text. VP_EARG: not a PEM key; VP_EIO. */
int digest_rs256(vp_buf *b, vp_str pem, vp_str text);
/* Wipes and frees a buffer that contained secrets. */
void digest_wipe(vp_buf *b);

#endif
