/* A contiguous view of a stream that grows until the current item is complete. The unfinished tail
 * is copied into the headroom of the next chunk; only longer items are collected in separate
 * memory. The owner frees it. */
#ifndef VP_EXPORT_JSON_WINDOW_H
#define VP_EXPORT_JSON_WINDOW_H

#include "trace/read/bytes/byte_stream.h"

typedef struct ex_window {
    const char *p, *end; /* unread bytes; RD_PAD bytes after end are readable */
    int64_t offset;      /* offset of `end` in the stream */
    rd_stream *in;       /* owned */
    char *own, *tail;    /* collected bytes; a tail that moves */
    size_t own_cap;
    bool over; /* the stream has ended */
} ex_window;

/* Takes ownership of the stream, also on failure. */
int ex_window_init(ex_window *w, rd_stream *in);
void ex_window_free(ex_window *w);
/* Appends bytes to [p,end), at least doubling it, so that rescanning costs at most twice the length
 * in total. 1, 0 at the end of the stream, or < 0. p and end may move. */
int ex_window_more(ex_window *w);

#endif
