/* The bytes of a pickle as its opcodes take them: a window over a stream, in which so many bytes
 * lie in one piece as are asked for. pickle_machine.c owns it. */
#ifndef VP_READ_PICKLE_INPUT_H
#define VP_READ_PICKLE_INPUT_H

#include "trace/read/bytes/byte_stream.h"

typedef struct pk_input {
    rd_stream *in; /* not owned */
    const unsigned char *p, *end;
    int64_t before; /* bytes of the stream in front of the window's end */
    bool ended;
} pk_input;

/* Where p stands in the stream. */
static inline int64_t pk_input_at(const pk_input *i)
{
    return i->before - (i->end - i->p);
}

/* Has n bytes (at most RD_HEADROOM) at p. 1: they are there; 0: the stream ends before; < 0:
 * failed.
 */
int pk_input_fill(pk_input *i, size_t n);
static inline int pk_input_need(pk_input *i, size_t n)
{
    return (size_t)(i->end - i->p) >= n ? 1 : pk_input_fill(i, n);
}
/* Goes n bytes on. As pk_input_need. */
int pk_input_skip(pk_input *i, uint64_t n);

#endif
