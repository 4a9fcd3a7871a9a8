/* A contiguous view of a stream that grows until the current item is complete. The unfinished tail
 * is copied into the headroom of the next chunk; only longer items are collected in separate
 * memory. The owner frees it. */
#ifndef VP_EXPORT_JSON_WINDOW_H
#define VP_EXPORT_JSON_WINDOW_H

#include "trace/read/bytes/byte_stream.h"

typedef struct ex_window {
    const char *p, *end; /* what is not used up yet; RD_PAD bytes behind end are readable */
    int64_t offset;      /* of `end` in the stream */
    rd_stream *in;       /* owned */
    char *own, *tail;    /* collected bytes; a tail that moves */
    size_t own_cap;
    bool over; /* the stream has ended */
} ex_window;

/* Takes the stream, also on failure. */
int ex_window_init(ex_window *w, rd_stream *in);
void ex_window_free(ex_window *w);
/* Adds bytes behind [p,end), at least doubling it, so that scanning it again costs no more than
 * twice its length in all. 1, 0 when the stream has ended, or < 0. p and end may move. */
int ex_window_more(ex_window *w);

#endif
