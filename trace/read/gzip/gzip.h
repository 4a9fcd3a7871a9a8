/* gzip, verified: CRC and length of every member are checked (libarchive does not:
 * docs/reference/formats.md#gzip), several members are one stream, a truncated file gives its good
 * prefix and `damage`. Inflates in a thread of its own. ISA-L when built in (VP_IGZIP), else
 * zlib. */
#ifndef VP_READ_GZIP_H
#define VP_READ_GZIP_H

#include "trace/read/bytes/byte_stream.h"

/* Wraps `in` (taken, also on failure). threaded = false inflates in the caller's thread. */
int gz_stream(rd_stream **out, rd_stream *in, bool threaded);
/* Forces a backend for tests: 0 the default, 1 zlib, 2 ISA-L (VP_EUNSUPPORTED if not built in). */
int gz_stream_backend(rd_stream **out, rd_stream *in, bool threaded, int backend);
/* Of a gz_stream that ended with damage: whether all data were there, but their checksum or length
 * is wrong, so that any byte of them may be. Otherwise what came before the damage is as good as it
 * looks. */
bool gz_checksum_failed(const rd_stream *s);
/* Unpacks the first bytes of a gzip file, to at most cap bytes, or up to damage. It does without
 * the buffers of a stream, which are too dear for a list of ten thousand heads. VP_ENOMEM. */
int gz_head(const void *p, size_t n, char *out, size_t cap, size_t *got);
/* The first two bytes of every gzip member. */
bool gz_is(const void *head, size_t n);

#endif
