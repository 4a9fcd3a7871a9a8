/* Asking for what lies elsewhere: questions about one address, and entries out of the answers. Who
 * answers is a fetcher, or in tests a function. */
#ifndef VP_SOURCE_SOURCE_ASK_H
#define VP_SOURCE_SOURCE_ASK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/base/buf.h"
#include "trace/base/str.h"
#include "trace/source/fetch_wire.h"

/* Whom to ask; ctx outlives who holds a copy. */
typedef struct source_ask {
    /* As fetcher_ask: *stream is the caller's. Any thread may ask. */
    int (*ask)(void *ctx, vp_str question, const int *files, size_t n, int *stream);
    void *ctx;
    bool is_unsigned; /* without credentials */
    /* "user:password@", which goes behind the "://" of each url that is asked for, and "?…", which
     * goes to its end; they stand in no failure. NULL: none. */
    const char *user, *query;
} source_ask;

typedef struct source_question {
    fetch_question what;
    const char *url;
    const char *etag;       /* NULL or "": whichever it has */
    int64_t offset, length; /* of READ, length -1: to the end; of WRITE length alone */
    bool flat;
    /* Of READ, where it goes: file -1 (or no places): DATA frames; else as FETCH_ASK_PLACES. */
    int file;
    const uint64_t *places;
    size_t place_n;
    uint32_t piece;
} source_question;

int source_ask_put(const source_ask *a, const source_question *q, int *stream);

/* One object or directory; the strings lie in the message. */
typedef struct source_entry {
    vp_str name, etag, why;
    int64_t bytes, mtime_ns; /* -1, 0: unknown */
    bool is_dir;
} source_entry;

/* VP_ECORRUPT: it is no entry. */
int source_entry_of(source_entry *out, vp_str message);
/* The entry of the one object that url names; its strings lie in payload, which is the caller's.
 * VP_ENOTFOUND, VP_EREMOTE, …. */
int source_ask_head(const source_ask *a, const char *url, vp_buf *payload, source_entry *out);
/* Waits until there is something to read; VP_ECANCELLED soon after *stop is set (may be NULL). */
int source_ask_wait(int stream, const _Atomic bool *stop);

#endif
