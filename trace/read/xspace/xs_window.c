#include "trace/read/xspace/xs_window.h"

#include "trace/base/limits.h"
#include "trace/base/mem.h"

int xw_init(xs_window *w, rd_source *source, size_t cap)
{
    *w = (xs_window){.source = source, .cap = cap, .size = rd_source_size(source)};
    w->buf = vp_malloc(w->cap);
    return w->buf ? 0 : vp_no_memory();
}

void xw_free(xs_window *w)
{
    vp_free(w->buf);
    w->buf = NULL;
}

/* Bytes read after a jump: often only the start of a line is needed before the next jump. */
#define AFTER_JUMP (16u << 10)

/* Moves the window to `offset`, keeping the bytes that it already holds from there on. */
static int window_slide(xs_window *w, int64_t offset, size_t want)
{
    bool jumps = offset < w->base || offset > w->base + (int64_t)w->have;
    size_t keep = 0, got, n;
    if (offset >= w->base && offset < w->base + (int64_t)w->have) {
        keep = w->have - (size_t)(offset - w->base);
        memmove(w->buf, w->buf + (offset - w->base), keep);
    }
    w->base = offset;
    w->have = keep;
    if (want > w->cap) {
        size_t cap = w->cap;
        VP_TRY(vp_grow(&w->buf, &cap, want, 1, VP_XPLANE_META_MAX));
        w->cap = cap;
    }
    n = jumps && w->cap > AFTER_JUMP ? (want > AFTER_JUMP ? want : AFTER_JUMP) : w->cap;
    VP_TRY(rd_source_read(w->source, w->buf + keep, n - keep, offset + (int64_t)keep, &got));
    w->have = keep + got;
    return 0;
}

int xw_need(xs_window *w, int64_t offset, size_t n, const uint8_t **p, size_t *have)
{
    int64_t inside = offset - w->base;
    if (inside < 0 || inside + (int64_t)n > (int64_t)w->have) {
        VP_TRY(window_slide(w, offset, n));
        inside = 0;
    }
    *p = w->buf + inside;
    *have = w->have - (size_t)inside;
    return *have >= n ? 0 : VP_ECORRUPT;
}

int xw_peek(xs_window *w, int64_t offset, int64_t end, const uint8_t **p, size_t *have)
{
    int rc = xw_need(w, offset, 1, p, have);
    if (rc == 0 && (int64_t)*have > end - offset)
        *have = (size_t)(end - offset);
    return rc;
}

/* Maximum size of a field's head: tag and value are two varints. */
#define HEAD_MAX 20

int xw_next(xs_window *w, int64_t *at, int64_t end, xw_field *f)
{
    const uint8_t *p;
    size_t have;
    uint64_t tag;
    *f = (xw_field){0};
    if (*at >= end)
        return 0;
    int rc = xw_need(w, *at, end - *at < HEAD_MAX ? (size_t)(end - *at) : HEAD_MAX, &p, &have);
    if (rc < 0)
        return rc;
    if ((int64_t)have > end - *at)
        have = (size_t)(end - *at);
    vp_pb r = {p, p + have};
    if (!vp_pb_varint(&r, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
        return VP_ECORRUPT;
    f->number = (uint32_t)(tag >> 3);
    f->wire = tag & 7;
    switch (f->wire) {
    case VP_PB_VARINT:
    case VP_PB_LEN:
        if (!vp_pb_varint(&r, &f->u))
            return VP_ECORRUPT;
        break;
    case VP_PB_FIXED64:
    case VP_PB_FIXED32:
        f->u = f->wire == VP_PB_FIXED64 ? 8 : 4;
        break;
    default:
        return VP_ECORRUPT;
    }
    f->offset = *at + (r.p - p);
    uint64_t content = f->wire == VP_PB_VARINT ? 0 : f->u;
    f->overrun = content > (uint64_t)(end - f->offset);
    if (f->overrun)
        return VP_ECORRUPT;
    *at = f->offset + (int64_t)content;
    return 1;
}
