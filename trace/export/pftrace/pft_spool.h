/* What was written of events in the file's order, read again in another: records of a length and
 * so many bytes in a spooled source. The files of pft_json include this; whoever makes one frees
 * it. */
#ifndef VP_EXPORT_PFTRACE_PFT_SPOOL_H
#define VP_EXPORT_PFTRACE_PFT_SPOOL_H

#include "trace/base/buf.h"
#include "trace/read/bytes/byte_stream.h"

typedef struct pft_spool {
    rd_source *source; /* owned */
    char *window;
    size_t cap, have;
    int64_t base;  /* of the window in the source */
    size_t served; /* bytes of records out of it */
} pft_spool;

/* Appends a record. */
int pft_spool_put(vp_buf *b, vp_str bytes);
/* The record at `offset`, valid until the next call. VP_ECORRUPT where there is none. */
int pft_spool_get(pft_spool *s, int64_t offset, vp_str *bytes);
void pft_spool_free(pft_spool *s);

#endif
