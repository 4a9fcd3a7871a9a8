/* A reused window onto a source: what the XSpace reader sees of a file of any size. Only
 * trace/read/xs_*.c include this. Bytes stay valid until the next xw_ call. */
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

/* cap: the bytes that it holds, more only where more is asked for at once. */
int xw_init(xs_window *w, rd_source *source, size_t cap);
void xw_free(xs_window *w);
/* At least `n` bytes at `offset` (fewer only at the end of the source, VP_ECORRUPT then), as many
 * as are in the window: *p, *have. n is at most VP_XPLANE_META_MAX. */
int xw_need(xs_window *w, int64_t offset, size_t n, const uint8_t **p, size_t *have);
/* For walking: as much at `offset`, up to `end`, as is in the window; at least one byte. */
int xw_peek(xs_window *w, int64_t offset, int64_t end, const uint8_t **p, size_t *have);

/* A field of a message that lies at [*at, end) of the source; length-delimited content is only
 * located, not read. 1: a field, *at stands behind it; 0: clean end; VP_ECORRUPT: damaged at *at.
 */
typedef struct xw_field {
    uint32_t number, wire;
    uint64_t u;     /* the value, or the length */
    int64_t offset; /* of the content of a length-delimited field */
    bool overrun;   /* damaged because the content reaches past `end`; number and offset are good */
} xw_field;
int xw_next(xs_window *w, int64_t *at, int64_t end, xw_field *f);

#endif
