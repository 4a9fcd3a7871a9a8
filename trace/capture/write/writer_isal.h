/* ISA-L's deflate, which takes a sixth of zlib's time and less room; compressing is most of what
 * the JSON costs. It is never linked, so that programs that the recorder goes into come to need
 * zlib only: it is used if its header was there when this was built, and loaded if the library is
 * there when this runs. Only writer_gzip.c includes this. */
#ifndef VP_CAPTURE_WRITER_ISAL_H
#define VP_CAPTURE_WRITER_ISAL_H

#include <stdbool.h>

#include "trace/capture/write/writer_gzip.h"

/* A gzip stream, level 1; *out is NULL where there is no such library. VP_ENOMEM. */
int wi_open(void **out);
void wi_free(void *stream);
/* Compresses as much as there is input and room for. last: no more input follows this. 1: the
 * stream has ended; 0: it has not; negative: it cannot go on. */
int wi_run(void *stream, wz_io *io, bool last);

#endif
