/* Event records written in file order and read back in another order: records of a length and bytes
 * in a spooled source. Events of a track come from a few places at once (host calls from one, their
 * annotations from another), so reads are cached in blocks. The creator frees it. Fails if the
 * temporary file is changed. */
#ifndef VP_EXPORT_PFTRACE_PFT_SPOOL_H
#define VP_EXPORT_PFTRACE_PFT_SPOOL_H

#include "trace/base/buf.h"
#include "trace/read/bytes/byte_stream.h"

typedef struct pft_spool {
    rd_source *source; /* owned */
    char *blocks;      /* NULL until the first read */
    int64_t *held;     /* slot of each block, from 1; 0: not cached */
    char *joined;      /* buffer for a record that spans several blocks */
    size_t joined_cap;
} pft_spool;

/* Appends a record. */
int pft_spool_put(vp_buf *b, vp_str bytes);
/* The record at `offset`, valid until the next call. VP_ECORRUPT if there is none. */
int pft_spool_get(pft_spool *s, int64_t offset, vp_str *bytes);
void pft_spool_free(pft_spool *s);

#endif
