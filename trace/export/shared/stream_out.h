/* Output buffer of the export streams: a vp_buf whose first RD_HEADROOM bytes stay free, so that a
 * full buffer can be passed on as a chunk under the rules of read/bytes/byte_stream.h. The stream
 * owns the buffer. */
#ifndef VP_EXPORT_STREAM_OUT_H
#define VP_EXPORT_STREAM_OUT_H

#include "trace/base/buf.h"
#include "trace/base/limits.h"
#include "trace/read/bytes/byte_stream.h"

/* Size at which a chunk is returned: it fits into L2 together with the reader's window. */
#define EX_OUT_CHUNK (256u << 10)
/* Bytes (of the source, or of unpacked text) that an exporter that may begin early (ex_pick) reads
 * first. Files that cannot be exported are refused by then; smaller files are read completely. */
#define EX_EARLY_BYTES (INT64_C(8) << 20)
/* Margin of a chunk: one event may be copied after an almost full chunk, and repairs may extend it.
 */
#define EX_OUT_MAX ((size_t)RD_HEADROOM + EX_OUT_CHUNK + 4 * (size_t)VP_JSON_EVENT_MAX)

static inline int ex_out_init(vp_buf *b)
{
    vp_buf_init(b, EX_OUT_MAX);
    return vp_buf_pad(b, 0, RD_HEADROOM);
}

static inline bool ex_out_full(const vp_buf *b)
{
    return b->n >= RD_HEADROOM + EX_OUT_CHUNK;
}

/* The content as a chunk, valid until ex_out_reset; 1, 0 if empty, or < 0. */
static inline int ex_out_chunk(vp_buf *b, char **p, size_t *n)
{
    int rc = vp_buf_pad(b, 0, RD_PAD);
    if (rc < 0)
        return rc;
    b->n -= RD_PAD;
    *p = b->p + RD_HEADROOM;
    *n = b->n - RD_HEADROOM;
    return *n > 0;
}

static inline void ex_out_reset(vp_buf *b)
{
    if (b->n > RD_HEADROOM)
        b->n = RD_HEADROOM;
}

#endif
