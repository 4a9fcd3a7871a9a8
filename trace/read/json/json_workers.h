/* Threads that read one JSON file. The stream is cut into pieces; an idle thread fills or scans
 * one, and the reader takes them in file order. The workers own the pieces; the stream must
 * outlive it.
 *
 *   stream ──► piece ──► scanned from where an event seems to begin ──► reader takes it
 *
 * The start of a piece's first event is speculative: a thread searches for the text that events of
 * this file begin with. The reader confirms it before it uses the result: after reading everything
 * before, it must arrive at this position, between two events. */
#ifndef VP_READ_JSON_WORKERS_H
#define VP_READ_JSON_WORKERS_H

#include "trace/read/bytes/byte_stream.h"
#include "trace/read/json/json_reader.h"

typedef struct cj_found {
    cj_fields f;
    const char *at; /* its opening brace */
} cj_found;

/* A piece of text. Between two of its events there is only what may separate events. */
typedef struct cj_piece {
    char *text; /* a chunk (chunk.h) */
    size_t n;
    int64_t raw_done; /* progress of the stream when it was filled */
    size_t from, to;  /* start of the first event, end of the last one, if any */
    cj_found *found;
    size_t count;
    bool scanned;
} cj_piece;

typedef struct cj_workers cj_workers;

/* True if this number of threads can read the stream, and the stream is large enough. */
bool cj_workers_fits(const rd_stream *in, int threads);
/* The stream must be unread and outlive the workers. VP_ENOMEM. */
int cj_workers_new(cj_workers **out, rd_stream *in, int threads);
/* Returns the next piece, which belongs to the reader until the next call. 1; 0 at the end; or the
 * failure of the stream. */
int cj_workers_next(cj_workers *c, cj_piece **piece);
/* Sets the text that events begin with, for the pieces that are not scanned yet. */
void cj_workers_learn(cj_workers *c, vp_str first);
/* Ends the threads after their current work, and frees the workers. For VP_CLEANUP. */
void cj_workers_free(cj_workers **c);

#endif
