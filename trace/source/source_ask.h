/* Requests about one remote address, and decoding of entries in the responses. They are answered by
 * a fetcher, or by a function in tests. The caller owns streams and buffers. */
#ifndef VP_SOURCE_SOURCE_ASK_H
#define VP_SOURCE_SOURCE_ASK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/base/buf.h"
#include "trace/base/str.h"
#include "trace/source/fetch_wire.h"

/* The fetcher; ctx must outlive all copies. */
typedef struct source_ask {
    /* Like fetcher_ask: the caller closes *stream. Thread-safe. */
    int (*ask)(void *ctx, vp_str question, const int *files, size_t n, int *stream);
    void *ctx;
    bool is_unsigned; /* without credentials */
    /* "user:password@", inserted after the "://" of each requested url, and "?…", appended to it;
     * they appear in no failure. NULL: none. */
    const char *user, *query;
} source_ask;

typedef struct source_question {
    fetch_question what;
    const char *url;
    const char *etag;       /* NULL or "": any version */
    int64_t offset, length; /* READ; length -1: to the end. WRITE: length only */
    bool flat;
    /* READ: destination. file -1 (or no places): DATA frames; else as FETCH_ASK_PLACES. */
    int file;
    const uint64_t *places;
    size_t place_n;
    uint32_t piece;
} source_question;

int source_ask_put(const source_ask *a, const source_question *q, int *stream);

/* One object or directory; the strings are slices of the message. */
typedef struct source_entry {
    vp_str name, etag, why;
    int64_t bytes, mtime_ns; /* -1, 0: unknown */
    bool is_dir;
} source_entry;

/* VP_ECORRUPT: not an entry. */
int source_entry_of(source_entry *out, vp_str message);
/* Requests the entry of the one object at url; its strings are slices of payload, which the caller
 * owns. VP_ENOTFOUND, VP_EREMOTE, …. */
int source_ask_head(const source_ask *a, const char *url, vp_buf *payload, source_entry *out);
/* Waits until the stream is readable; VP_ECANCELLED soon after *stop is set (may be NULL). */
int source_ask_wait(int stream, const _Atomic bool *stop);

#endif
