/* A remote object as a source: read ahead in ranges by a few threads, into a bounded number of
 * cached blocks. It is one version of the object: if that changes during reading, all further reads
 * fail. The caller closes the source; `ask` is copied, and its ctx must outlive the source. */
#ifndef VP_SOURCE_OBJECT_H
#define VP_SOURCE_OBJECT_H

#include "trace/read/bytes/byte_stream.h"
#include "trace/source/source_ask.h"

typedef struct object_of {
    const char *url, *etag; /* etag "": the version at the first read */
    int64_t bytes;
    bool is_part; /* `bytes` covers only the start of the object */
    bool once;    /* read from front to back once: blocks are not cached */
} object_of;

/* Makes no request before the first read. Reads fail with VP_EREMOTE, VP_EIO (changed), …; the
 * failure contains the address. */
int object_source(rd_source **out, const source_ask *ask, const object_of *of);

#endif
