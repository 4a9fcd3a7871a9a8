/* SHA-256 (FIPS 180-4), for what others compute too: a browser compares the hash of a script with
 * the one that a Content-Security-Policy names. Not fast, and no secret goes through it. Everyone
 * may include. */
#ifndef VP_BASE_SHA256_H
#define VP_BASE_SHA256_H

#include <stddef.h>

#include "trace/base/buf.h"

#define VP_SHA256_BYTES 32

void vp_sha256(const void *data, size_t n, unsigned char out[VP_SHA256_BYTES]);
/* Appends bytes in base64 (RFC 4648 4, padded). */
void vp_put_base64(vp_buf *b, const unsigned char *p, size_t n);

#endif
