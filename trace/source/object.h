/* An object that lies elsewhere, as a source: read by ranges ahead of its readers, on a few
 * threads, into blocks of which a bounded number is kept. It is one version of the object: one that
 * changes while it is read fails all further reads. Whoever opens the source closes it; `ask` is
 * copied, and whom it asks outlives the source. */
#ifndef VP_SOURCE_OBJECT_H
#define VP_SOURCE_OBJECT_H

#include "trace/read/bytes/byte_stream.h"
#include "trace/source/source_ask.h"

typedef struct object_of {
    const char *url, *etag; /* etag "": the one it has at the first read */
    int64_t bytes;
    bool is_part; /* bytes: of its start only */
    bool once;    /* read from front to back: what was read is not kept */
} object_of;

/* Nothing is asked before the first read. Reads fail with VP_EREMOTE, VP_EIO (it changed), …, and
 * the address stands in the failure. */
int object_source(rd_source **out, const source_ask *ask, const object_of *of);

#endif
