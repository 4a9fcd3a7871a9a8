/* gzip streams, verified: CRC and length of every member are checked, which libarchive does not do
 * (docs/reference/formats.md#gzip). Several members form one stream. A truncated file gives its
 * good prefix and `damage`. Inflates in a thread of its own, by ISA-L if built in (VP_IGZIP), else
 * zlib. */
#ifndef VP_READ_GZIP_H
#define VP_READ_GZIP_H

#include "trace/read/bytes/byte_stream.h"

/* Wraps `in` and takes ownership, also on failure. threaded = false inflates in the caller's
 * thread. */
int gz_stream(rd_stream **out, rd_stream *in, bool threaded);
/* For tests: selects a backend. 0: default; 1: zlib; 2: ISA-L (VP_EUNSUPPORTED if not built in). */
int gz_stream_backend(rd_stream **out, rd_stream *in, bool threaded, int backend);
/* For a gz_stream that ended with damage: true if all data was present but its checksum or length
 * is wrong. Then any byte may be wrong; otherwise the bytes before the damage are good. */
bool gz_checksum_failed(const rd_stream *s);
/* Inflates the first bytes of a gzip file, up to cap bytes or damage. It needs no stream buffers,
 * which would be too expensive for a list of ten thousand files. VP_ENOMEM. */
int gz_head(const void *p, size_t n, char *out, size_t cap, size_t *got);
/* True if head starts with the magic of a gzip member. */
bool gz_is(const void *head, size_t n);

#endif
