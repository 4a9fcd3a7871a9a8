/* A growing byte buffer that cannot exist without a maximum. A failed append frees the content
 * and makes every later call fail with the same code, so callers check once, at the end.
 * The buffer owns its bytes until vp_buf_free or vp_buf_take. Everyone may include. */
#ifndef VP_BASE_BUF_H
#define VP_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/str.h"

/* Where a full buffer goes when it streams; returns 0 or a negative code. */
typedef int vp_write_fn(void *ctx, const void *data, size_t n);

typedef struct vp_buf {
    char *p;
    size_t n, cap, max;
    int status;         /* 0 or the first failure */
    vp_write_fn *drain; /* NULL: collects; else flushed when 64 KiB are full */
    void *drain_ctx;
} vp_buf;

void vp_buf_init(vp_buf *b, size_t max);
/* Bytes go to write(ctx, …) in pieces of about 64 KiB; call vp_buf_flush at the end. */
void vp_buf_init_stream(vp_buf *b, vp_write_fn *write, void *ctx);
void vp_buf_free(vp_buf *b);
/* Fails the buffer as a failed append does, where what was to be appended cannot be made. Returns
 * `code`. */
int vp_buf_fail(vp_buf *b, int code);
/* Frees `piece`, a buffer in which a part of b was made. If piece had failed, b fails as it did,
 * unless b had failed already. */
void vp_buf_free_piece(vp_buf *b, vp_buf *piece);
int vp_buf_put(vp_buf *b, const void *p, size_t n);
int vp_buf_putc(vp_buf *b, char c);
int vp_buf_puts(vp_buf *b, const char *z);
int vp_buf_str(vp_buf *b, vp_str s);
int vp_buf_i64(vp_buf *b, int64_t v);
int vp_buf_u64(vp_buf *b, uint64_t v);
int vp_buf_pad(vp_buf *b, char c, size_t count);
int vp_buf_printf(vp_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int vp_buf_flush(vp_buf *b);
/* Room for n more bytes behind the content, which the caller fills before adding what it used to
 * ->n, or to vp_buf_wrote if the buffer streams; NULL on failure. */
char *vp_buf_room(vp_buf *b, size_t n);
static inline char *vp_buf_reserve(vp_buf *b, size_t n)
{
    return n < b->cap - b->n ? b->p + b->n : vp_buf_room(b, n);
}
/* n bytes were filled in there. */
int vp_buf_wrote(vp_buf *b, size_t n);
/* A terminating NUL is kept behind the content; valid until the next append. "" when empty. */
const char *vp_buf_cstr(vp_buf *b);
/* Moves the bytes (NUL-terminated) to the caller, who frees them with vp_free; NULL on failure. */
char *vp_buf_take(vp_buf *b, size_t *n);
static inline vp_str vp_buf_view(const vp_buf *b)
{
    return (vp_str){b->p, b->n};
}

#endif
