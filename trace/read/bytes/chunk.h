/* The buffer for a stream's chunks: RD_HEADROOM writable bytes before it and RD_PAD readable bytes
 * after it (byte_stream.h). The stream that allocates it frees it. */
#ifndef VP_READ_CHUNK_H
#define VP_READ_CHUNK_H

#include "trace/base/mem.h"
#include "trace/read/bytes/byte_stream.h"

/* Allocates a chunk of cap bytes; NULL when out of memory (not recorded). The padding is zeroed, so
 * a SIMD scanner reads defined bytes past the end. */
static inline char *rd_chunk_new(size_t cap)
{
    char *p = vp_malloc(RD_HEADROOM + cap + RD_PAD);
    if (!p)
        return NULL;
    memset(p + RD_HEADROOM + cap, 0, RD_PAD);
    return p + RD_HEADROOM;
}

/* NULL is allowed. */
static inline void rd_chunk_free(char *chunk)
{
    if (chunk)
        vp_free(chunk - RD_HEADROOM);
}

#endif
