/* ISA-L's deflate, which takes a sixth of zlib's time and less memory; compression is most of the
 * cost of the JSON. It is never linked, so that programs with the recorder depend only on zlib. It
 * is used if its header was present at build time and its library is present at run time. Private
 * to writer_gzip.c. The caller frees the stream. */
#ifndef VP_CAPTURE_WRITER_ISAL_H
#define VP_CAPTURE_WRITER_ISAL_H

#include <stdbool.h>

#include "trace/capture/write/writer_gzip.h"

/* Opens a gzip stream, level 1; *out is NULL if the library is missing. VP_ENOMEM. */
int wi_open(void **out);
void wi_free(void *stream);
/* Compresses until input or output space is used up. last: no more input follows. 1: the stream has
 * ended; 0: it has not; negative: failed. */
int wi_run(void *stream, wz_io *io, bool last);

#endif
