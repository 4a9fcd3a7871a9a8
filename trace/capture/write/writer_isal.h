/* ISA-L's deflate, which takes a sixth of zlib's time and less room. It is used where its header
 * was there when this was built and the library is there when this runs, and never linked: the
 * recorder goes into other people's programs, which shall not come to need it. Only writer_gzip.c
 * includes this.
 *
 * Compressing is most of what the JSON costs, and ISA-L takes a sixth of zlib's time. It is loaded
 * and not linked, so that programs that the recorder goes into come to need zlib only. */
#ifndef VP_CAPTURE_WRITER_ISAL_H
#define VP_CAPTURE_WRITER_ISAL_H

#include <stdbool.h>

#include "trace/capture/write/writer_gzip.h"

/* A gzip stream, level 1; *out is NULL where there is no such library. VP_ENOMEM. */
int wi_open(void **out);
void wi_free(void *stream);
/* Goes on as far as the room lasts. last: no more input follows this. 1: the stream has ended; 0:
 * it has not; negative: it cannot go on. */
int wi_run(void *stream, wz_io *io, bool last);

#endif
