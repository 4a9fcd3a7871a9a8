/* Input for readers. A stream is read once from front to back (JSON, gzip, tar members). A source
 * can be read at any offset (xplane). Streams stack: file → gzip → member. The caller closes what
 * it opened. A stream is used by one thread at a time; several threads may read a source. Functions
 * return VP_EIO, VP_ENOMEM or VP_ELIMIT. */
#ifndef VP_READ_BYTE_STREAM_H
#define VP_READ_BYTE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"
#include "trace/base/log.h"
#include "trace/base/str.h"

/* HEADROOM: bytes before a chunk that its reader may overwrite, to prepend an unfinished tail
 * without copying the chunk. PAD: bytes after it that are readable but meaningless, for SIMD. */
#define RD_HEADROOM (64u << 10)
#define RD_PAD 64u

typedef struct rd_source rd_source;
typedef struct rd_stream rd_stream;
struct rd_stream {
    /* Returns 1 and the next chunk in *p, *n (n > 0), valid until the next call. The reader may
     * write to it, to RD_HEADROOM bytes before it, and may read RD_PAD bytes after it. 0: end of
     * the stream. < 0: failed. Damage that leaves a good prefix ends the stream with 0 and sets
     * `damage`. */
    int (*next)(rd_stream *s, char **p, size_t *n);
    /* Reads at most cap bytes into the caller's memory. A caller uses either `next` or `fill` for
     * the whole stream; `fill` may be called by changing threads, one at a time. NULL: not
     * supported. */
    int (*fill)(rd_stream *s, char *p, size_t cap, size_t *n);
    void (*close)(rd_stream *s); /* frees the stream and all streams below it; s must not be NULL */
    int64_t total;               /* bytes it will deliver; -1: unknown */
    int64_t raw_done, raw_total; /* progress in bytes of the underlying file; total -1: unknown */
    vp_error damage;             /* code is 0 while intact */
};

/* Closes *s if not NULL; for VP_CLEANUP. */
void rd_stream_close(rd_stream **s);
/* Opens a stream over a file, from its start, in chunks of VP_READ_WINDOW bytes. Takes ownership of
 * the descriptor, also on failure. If the file shrinks while it is read, the stream ends early with
 * damage. */
int rd_stream_fd(rd_stream **out, int fd);
/* The same for JSON and gzip, which contain no pages of zeros. The stream ends with damage at the
 * first hole of 64 KiB, so the bytes read are bounded by the bytes on disk. A crash can leave such
 * a file, and a sparse file of 1 TB costs an attacker nothing. */
int rd_stream_text(rd_stream **out, int fd);
/* Opens a stream over a source, from its start. Takes ownership of the source, also on failure. */
int rd_stream_source(rd_stream **out, rd_source *in);
/* Opens a stream over standard input or another pipe. Takes ownership of the descriptor, also on
 * failure. */
int rd_stream_pipe(rd_stream **out, int fd);
/* Opens a stream over bytes that the caller keeps alive, in chunks of at most `chunk` bytes (0: 1
 * MiB). */
int rd_stream_memory(rd_stream **out, const void *p, size_t n, size_t chunk);
/* Reads the whole stream into memory (tests, small files). VP_ELIMIT above max bytes. The caller
 * frees *out with vp_free. */
int rd_stream_slurp(rd_stream *s, size_t max, char **out, size_t *n);

/* Takes ownership of the descriptor, also on failure. */
int rd_source_fd(rd_source **out, int fd);
/* A source over bytes that the caller keeps alive. */
int rd_source_memory(rd_source **out, const void *p, size_t n);
/* Reads a whole stream into memory, or above VP_SPOOL_MEMORY_MAX into an unlinked temporary file.
 * The stream is not closed; its damage, if any, is copied to *damage (may be NULL). */
int rd_source_spool(rd_source **out, rd_stream *in, vp_error *damage);
/* A source implemented by callbacks. `read` returns all n bytes, which are within the size, or
 * fails; several threads may call it at once. */
typedef struct rd_calls {
    int (*read)(void *ctx, void *buf, size_t n, int64_t offset);
    void (*in_order)(void *ctx); /* for rd_source_in_order; may be NULL */
    void (*close)(void *ctx);
    void *ctx;
} rd_calls;
/* Takes ownership of ctx, also on failure. */
int rd_source_calls(rd_source **out, int64_t size, const rd_calls *calls);
int64_t rd_source_size(const rd_source *s);
/* True if the whole source is in memory; then *bytes is its content, valid while the source is
 * open. */
bool rd_source_in_memory(const rd_source *s, vp_str *bytes);
/* Reads up to n bytes at offset; less only at the end. */
int rd_source_read(rd_source *s, void *buf, size_t n, int64_t offset, size_t *got);
/* Announces that all of the source will be read from front to back, by threads at nearby offsets.
 * Before this call, readers skip most of it or read at any offset. */
void rd_source_in_order(rd_source *s);
void rd_source_close(rd_source *s);

#endif
