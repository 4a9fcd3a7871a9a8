/* A reused window over a source, through which the XSpace reader reads files of any size. Private
 * to trace/read/xspace. Bytes are valid until the next xw_ call. The caller owns the source. */
#ifndef VP_READ_XS_WINDOW_H
#define VP_READ_XS_WINDOW_H

#include "trace/base/pb.h"
#include "trace/read/bytes/byte_stream.h"

typedef struct xs_window {
    rd_source *source;
    uint8_t *buf;
    size_t cap, have;
    int64_t base; /* offset of buf[0] in the source */
    int64_t size; /* of the source */
} xs_window;

/* cap: bytes of the window; it grows only for larger requests. */
int xw_init(xs_window *w, rd_source *source, size_t cap);
void xw_free(xs_window *w);
/* Makes at least `n` bytes at `offset` available in *p; *have is the number in the window.
 * VP_ECORRUPT: fewer before the end of the source. n is at most VP_XPLANE_META_MAX. */
int xw_need(xs_window *w, int64_t offset, size_t n, const uint8_t **p, size_t *have);
/* The bytes at `offset` up to `end` that are in the window, at least one. */
int xw_peek(xs_window *w, int64_t offset, int64_t end, const uint8_t **p, size_t *have);

/* Reads a field of a message at [*at, end) of the source. Length-delimited content is located but
 * not read. 1: a field, and *at moves after it; 0: the end; VP_ECORRUPT: damaged at *at. */
typedef struct xw_field {
    uint32_t number, wire;
    uint64_t u;     /* the value, or the length */
    int64_t offset; /* of the content of a length-delimited field */
    bool overrun;   /* damaged because the content exceeds `end`; number and offset are valid */
} xw_field;
int xw_next(xs_window *w, int64_t *at, int64_t end, xw_field *f);

#endif
