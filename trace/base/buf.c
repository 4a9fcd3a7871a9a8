#include "trace/base/buf.h"

#include <stdio.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

#define DRAIN_AT (64u << 10)

void vp_buf_init(vp_buf *b, size_t max)
{
    *b = (vp_buf){.max = max};
}

void vp_buf_init_stream(vp_buf *b, vp_write_fn *write, void *ctx)
{
    *b = (vp_buf){.max = SIZE_MAX / 4, .drain = write, .drain_ctx = ctx};
}

void vp_buf_free(vp_buf *b)
{
    vp_free(b->p);
    b->p = NULL;
    b->n = b->cap = 0;
}

void vp_buf_free_piece(vp_buf *b, vp_buf *piece)
{
    if (piece->status < 0 && b->status >= 0)
        b->status = piece->status;
    vp_buf_free(piece);
}

int vp_buf_fail(vp_buf *b, int code)
{
    vp_buf_free(b);
    b->status = code;
    return code;
}

int vp_buf_flush(vp_buf *b)
{
    if (b->status < 0 || !b->drain || !b->n)
        return b->status;
    int rc = b->drain(b->drain_ctx, b->p, b->n);
    b->n = 0;
    return rc < 0 ? vp_buf_fail(b, rc) : 0;
}

static int buf_reserve(vp_buf *b, size_t n)
{
    if (b->status < 0)
        return b->status;
    if (n > b->max || b->n > b->max - n)
        return vp_buf_fail(b, vp_fail(VP_ELIMIT, "output above its limit of %zu bytes", b->max));
    if (n < b->cap - b->n) /* one byte is reserved for the NUL */
        return 0;
    int rc = vp_grow(&b->p, &b->cap, b->n + n + 1, 1, SIZE_MAX / 2);
    return rc < 0 ? vp_buf_fail(b, rc) : 0;
}

char *vp_buf_room(vp_buf *b, size_t n)
{
    return buf_reserve(b, n) < 0 ? NULL : b->p + b->n;
}

static inline int buf_flush_if_full(vp_buf *b)
{
    return b->drain && b->n >= DRAIN_AT ? vp_buf_flush(b) : 0;
}

int vp_buf_wrote(vp_buf *b, size_t n)
{
    b->n += n;
    return buf_flush_if_full(b);
}

int vp_buf_put(vp_buf *b, const void *p, size_t n)
{
    VP_TRY(buf_reserve(b, n));
    if (n)
        memcpy(b->p + b->n, p, n);
    b->n += n;
    return buf_flush_if_full(b);
}

int vp_buf_puts(vp_buf *b, const char *z)
{
    return vp_buf_put(b, z, strlen(z));
}

int vp_buf_str(vp_buf *b, vp_str s)
{
    return vp_buf_put(b, s.p, s.n);
}

int vp_buf_u64(vp_buf *b, uint64_t v)
{
    char tmp[20];
    size_t i = sizeof tmp;
    do
        tmp[--i] = (char)('0' + v % 10);
    while (v /= 10);
    return vp_buf_put(b, tmp + i, sizeof tmp - i);
}

int vp_buf_i64(vp_buf *b, int64_t v)
{
    if (v >= 0)
        return vp_buf_u64(b, (uint64_t)v);
    VP_TRY(vp_buf_putc(b, '-'));
    return vp_buf_u64(b, 0 - (uint64_t)v);
}

int vp_buf_pad(vp_buf *b, char c, size_t count)
{
    VP_TRY(buf_reserve(b, count));
    memset(b->p + b->n, c, count);
    b->n += count;
    return buf_flush_if_full(b);
}

int vp_buf_printf(vp_buf *b, const char *fmt, ...)
{
    va_list ap, again;
    size_t had = b->cap - b->n; /* if this is enough, the text is formatted only once */
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(had ? b->p + b->n : NULL, had, fmt, ap);
    va_end(ap);
    int rc = n < 0 ? vp_fail(VP_EARG, "bad format") : buf_reserve(b, (size_t)n);
    if (rc >= 0) {
        if ((size_t)n >= had)
            vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
        rc = buf_flush_if_full(b);
    }
    va_end(again);
    return rc;
}

const char *vp_buf_cstr(vp_buf *b)
{
    if (buf_reserve(b, 0) < 0)
        return "";
    b->p[b->n] = 0;
    return b->p;
}

char *vp_buf_take(vp_buf *b, size_t *n)
{
    if (buf_reserve(b, 0) < 0)
        return NULL;
    char *p = b->p;
    p[b->n] = 0;
    if (n)
        *n = b->n;
    b->p = NULL;
    b->n = b->cap = 0;
    return p;
}
