/* gzip on the way out: a finished buffer, or a source while it is sent. */
#ifndef VP_NET_ENCODE_H
#define VP_NET_ENCODE_H

#include "server/net/answer/http_source.h"
#include "trace/base/buf.h"
#include "trace/base/str.h"

/* Compresses a whole buffer (level 6) into *out, which is initialised here with a maximum of the
 * input's size. VP_ELIMIT: it would not get smaller. */
int http_gzip_buffer(vp_buf *out, vp_str in);
/* Wraps a source (taken, also on failure) into one that delivers its gzip form (level 1). */
int http_gzip_source(http_source *out, http_source in);

#endif
