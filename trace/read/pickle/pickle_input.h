/* Input of the pickle machine: a window over a stream, which makes the requested bytes contiguous.
 * pickle_machine.c owns it. Fails as the stream does. */
#ifndef VP_READ_PICKLE_INPUT_H
#define VP_READ_PICKLE_INPUT_H

#include "trace/read/bytes/byte_stream.h"

typedef struct pk_input {
    rd_stream *in; /* not owned */
    const unsigned char *p, *end;
    int64_t before; /* bytes of the stream before the window's end */
    bool ended;
} pk_input;

/* Offset of p in the stream. */
static inline int64_t pk_input_at(const pk_input *i)
{
    return i->before - (i->end - i->p);
}

/* Makes n bytes (at most RD_HEADROOM) available at p. 1: done; 0: the stream ends before; < 0:
 * failed. */
int pk_input_fill(pk_input *i, size_t n);
static inline int pk_input_need(pk_input *i, size_t n)
{
    return (size_t)(i->end - i->p) >= n ? 1 : pk_input_fill(i, n);
}
/* Skips n bytes. Returns like pk_input_need. */
int pk_input_skip(pk_input *i, uint64_t n);

#endif
