/* gzip compression of responses: of a complete buffer, or of a source while it is sent. */
#ifndef VP_NET_ENCODE_H
#define VP_NET_ENCODE_H

#include "server/net/answer/http_source.h"
#include "trace/base/buf.h"
#include "trace/base/str.h"

/* Compresses a buffer (level 6) into *out, which is initialized here with the size of the input as
 * maximum. VP_ELIMIT: not smaller than the input. */
int http_gzip_buffer(vp_buf *out, vp_str in);
/* Wraps a source (takes ownership, also on failure) in one that delivers its gzip form (level 1).
 */
int http_gzip_source(http_source *out, http_source in);

#endif
