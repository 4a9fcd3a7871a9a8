/* SHA-256 (FIPS 180-4), for hashes that others compute too, such as those of scripts in a
 * Content-Security-Policy. It is not optimized for speed and must not be used for secrets. Nothing
 * is allocated. */
#ifndef VP_BASE_SHA256_H
#define VP_BASE_SHA256_H

#include <stddef.h>

#include "trace/base/buf.h"

#define VP_SHA256_BYTES 32

void vp_sha256(const void *data, size_t n, unsigned char out[VP_SHA256_BYTES]);
/* Appends bytes in base64 (RFC 4648 4, padded). */
void vp_put_base64(vp_buf *b, const unsigned char *p, size_t n);

#endif
