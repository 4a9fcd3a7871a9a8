/* How readers get bytes. A stream is read once from front to back (JSON, gzip, tar members); a
 * source can be read at any offset (xplane). Streams stack: file → gzip → member. Readers and the
 * catalog include this; whoever opens a stream or source closes it. Not thread-safe: one reader;
 * but of a source several threads may read. */
#ifndef VP_READ_BYTE_STREAM_H
#define VP_READ_BYTE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"
#include "trace/base/log.h"
#include "trace/base/str.h"

/* Bytes before a chunk that its reader may overwrite (to put an unfinished tail in front without
 * copying the chunk), and bytes behind it that may be read but mean nothing (for SIMD). */
#define RD_HEADROOM (64u << 10)
#define RD_PAD 64u

typedef struct rd_source rd_source;
typedef struct rd_stream rd_stream;
struct rd_stream {
    /* 1: *p,*n is the next chunk (n > 0), writable and valid until the next call, with RD_HEADROOM
     * bytes before it and RD_PAD behind it belonging to the reader. 0: the end. < 0: failed.
     * Damage that leaves a good prefix ends the stream with 0 and fills `damage`. */
    int (*next)(rd_stream *s, char **p, size_t *n);
    /* The same into memory of the caller's, at most cap bytes, and instead of `next`: from the
     * first call on; it may come from one thread after the other. NULL where a stream has none. */
    int (*fill)(rd_stream *s, char *p, size_t cap, size_t *n);
    void (*close)(rd_stream *s); /* frees the stream and everything below it; s may not be NULL */
    int64_t total;               /* bytes it will deliver, -1 when unknown */
    int64_t raw_done, raw_total; /* progress in bytes of the file at the bottom; total -1 unknown */
    vp_error damage;             /* code 0 while intact */
};

/* Closes *s when not NULL; for VP_CLEANUP. */
void rd_stream_close(rd_stream **s);
/* A stream over an open file (the descriptor is taken, also on failure), from its start.
 * Chunks of VP_READ_WINDOW bytes. A file that shrinks while read ends early with damage. */
int rd_stream_fd(rd_stream **out, int fd);
/* The same for JSON and gzip, which hold no zeros by the page: it ends with damage at the first
 * hole of 64 KiB, so that what is read is bounded by what the disk holds (a crash can leave such a
 * file, and one of 1 TB costs its author nothing). */
int rd_stream_text(rd_stream **out, int fd);
/* A stream over a source (taken, also on failure), from its start. */
int rd_stream_source(rd_stream **out, rd_source *in);
/* A stream over standard input or any pipe. */
int rd_stream_pipe(rd_stream **out, int fd);
/* A stream over bytes that the caller keeps alive; chunks of at most `chunk` bytes (0: 1 MiB). */
int rd_stream_memory(rd_stream **out, const void *p, size_t n, size_t chunk);
/* Reads everything into memory (tests, small files); VP_ELIMIT above max. vp_free the result. */
int rd_stream_slurp(rd_stream *s, size_t max, char **out, size_t *n);

/* Takes the descriptor, also on failure. */
int rd_source_fd(rd_source **out, int fd);
/* Bytes that the caller keeps alive. */
int rd_source_memory(rd_source **out, const void *p, size_t n);
/* Drains a stream into memory, or above VP_SPOOL_MEMORY_MAX into an unlinked temporary file.
 * The stream is not closed; its damage, if any, is copied to *damage (may be NULL). */
int rd_source_spool(rd_source **out, rd_stream *in, vp_error *damage);
/* What is read by calls: of n bytes that lie within its size, all or a failure. Several threads may
 * read at once. */
typedef struct rd_calls {
    int (*read)(void *ctx, void *buf, size_t n, int64_t offset);
    void (*in_order)(void *ctx); /* rd_source_in_order; may be NULL */
    void (*close)(void *ctx);
    void *ctx;
} rd_calls;
/* Takes ctx, also on failure. */
int rd_source_calls(rd_source **out, int64_t size, const rd_calls *calls);
int64_t rd_source_size(const rd_source *s);
/* Whether all of it lies in memory: then *bytes is that, valid while the source is. */
bool rd_source_in_memory(const rd_source *s, vp_str *bytes);
/* Up to n bytes at offset; short only at the end. */
int rd_source_read(rd_source *s, void *buf, size_t n, int64_t offset, size_t *got);
/* Says that from now on all of it is read from front to back, by threads that are near each other;
 * until then readers jump over most of it, or read what they like. */
void rd_source_in_order(rd_source *s);
void rd_source_close(rd_source *s);

#endif
