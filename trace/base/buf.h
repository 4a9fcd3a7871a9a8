/* Growing byte buffer with a mandatory maximum. A failed append frees the content and makes every
 * later call fail with the same code, so callers check once, at the end. The buffer owns its bytes
 * until vp_buf_free or vp_buf_take. */
#ifndef VP_BASE_BUF_H
#define VP_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/str.h"

/* Receives the content of a streaming buffer when it is full; returns 0 or a negative code. */
typedef int vp_write_fn(void *ctx, const void *data, size_t n);

typedef struct vp_buf {
    char *p;
    size_t n, cap, max;
    int status;         /* 0 or the first failure */
    vp_write_fn *drain; /* NULL: collects; else called when 64 KiB are full */
    void *drain_ctx;
} vp_buf;

void vp_buf_init(vp_buf *b, size_t max);
/* A streaming buffer: calls write(ctx, …) with pieces of about 64 KiB. Call vp_buf_flush at the
 * end. */
void vp_buf_init_stream(vp_buf *b, vp_write_fn *write, void *ctx);
void vp_buf_free(vp_buf *b);
/* Fails the buffer as a failed append does, for content that could not be made. Returns `code`. */
int vp_buf_fail(vp_buf *b, int code);
/* Frees `piece`, a buffer that held a part of b's content. If piece had failed, b fails with the
 * same code, unless b had failed already. */
void vp_buf_free_piece(vp_buf *b, vp_buf *piece);
int vp_buf_put(vp_buf *b, const void *p, size_t n);
static inline int vp_buf_putc(vp_buf *b, char c)
{
    if (b->drain || b->n >= b->max || b->cap - b->n < 2) /* also after a failure */
        return vp_buf_put(b, &c, 1);
    b->p[b->n++] = c;
    return 0;
}
int vp_buf_puts(vp_buf *b, const char *z);
int vp_buf_str(vp_buf *b, vp_str s);
int vp_buf_i64(vp_buf *b, int64_t v);
int vp_buf_u64(vp_buf *b, uint64_t v);
int vp_buf_pad(vp_buf *b, char c, size_t count);
int vp_buf_printf(vp_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int vp_buf_flush(vp_buf *b);
/* Returns space for n more bytes after the content, or NULL on failure. The caller fills it, then
 * adds the bytes used to ->n; for a streaming buffer it calls vp_buf_wrote instead. */
char *vp_buf_room(vp_buf *b, size_t n);
static inline char *vp_buf_reserve(vp_buf *b, size_t n)
{
    return n < b->cap - b->n ? b->p + b->n : vp_buf_room(b, n);
}
/* Appends the n bytes that the caller wrote to the space of vp_buf_room. */
int vp_buf_wrote(vp_buf *b, size_t n);
/* The content, followed by a NUL; valid until the next append. "" when empty. */
const char *vp_buf_cstr(vp_buf *b);
/* Moves the bytes (NUL-terminated) to the caller, who frees them with vp_free; NULL on failure. */
char *vp_buf_take(vp_buf *b, size_t *n);
static inline vp_str vp_buf_view(const vp_buf *b)
{
    return (vp_str){b->p, b->n};
}

#endif
