/* The threads that read one JSON file: the stream is cut into pieces, whoever is free fills or
 * scans one, and the reader takes them in the file's order.
 *
 *   stream ──► piece ──► scanned from where an event seems to begin ──► reader takes it
 *
 * Where a piece's first event begins is a guess, by the text that events of this file begin with.
 * The reader proves it before it believes what was found: it has read everything before, and then
 * stands there, between two events. */
#ifndef VP_READ_JSON_CREW_H
#define VP_READ_JSON_CREW_H

#include "trace/read/bytes/byte_stream.h"
#include "trace/read/json/json_reader.h"

typedef struct cj_found {
    cj_fields f;
    const char *at; /* its brace */
} cj_found;

/* What lies between two of the events found is only what may lie between events. */
typedef struct cj_piece {
    char *text; /* a chunk (chunk.h) */
    size_t n;
    int64_t raw_done; /* progress of the stream when it was filled */
    size_t from, to;  /* where the first event begins, and what follows the last; if there is one */
    cj_found *found;
    size_t count;
    bool scanned;
} cj_piece;

typedef struct cj_crew cj_crew;

/* Whether so many threads may read a stream, and it is worth it. */
bool cj_crew_fits(const rd_stream *in, int threads);
/* The stream, of which nothing was read, outlives it. VP_ENOMEM. */
int cj_crew_new(cj_crew **out, rd_stream *in, int threads);
/* The next piece, valid and the reader's until the next call. 1, 0 at the end, or what the stream
 * failed with. */
int cj_crew_next(cj_crew *c, cj_piece **piece);
/* What events begin with, for the pieces that are still to be scanned. */
void cj_crew_learn(cj_crew *c, vp_str first);
/* Ends the threads after what each has in hand, and frees. For VP_CLEANUP. */
void cj_crew_free(cj_crew **c);

#endif
