#include "trace/base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
#include <wchar.h>

#include "trace/base/fs.h"

static _Atomic int level_now = VP_LOG_INFO;

void vp_log_set_level(int level)
{
    atomic_store(&level_now, level);
}

int vp_log_level(void)
{
    return atomic_load(&level_now);
}

void vp_log(int level, const char *fmt, ...)
{
    char text[1024];
    vp_buf b;
    va_list ap;
    if (level > vp_log_level())
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    vp_buf_init(&b, 8192);
    vp_buf_puts(&b, "view_profile: ");
    vp_put_escaped(&b, vp_str_of(text));
    vp_buf_putc(&b, '\n');
    if (b.status >= 0)
        (void)!write(STDERR_FILENO, b.p, b.n);
    vp_buf_free(&b);
}

static uint32_t decode(const unsigned char *p, unsigned len)
{
    switch (len) {
    case 1:
        return p[0];
    case 2:
        return (uint32_t)(p[0] & 0x1f) << 6 | (p[1] & 0x3f);
    case 3:
        return (uint32_t)(p[0] & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
    default:
        return (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3f) << 12 |
               (uint32_t)(p[2] & 0x3f) << 6 | (p[3] & 0x3f);
    }
}

/* C1 controls, line separators, zero-width and bidirectional controls: they hide or reorder text.
 */
static bool invisible(uint32_t c)
{
    return (c >= 0x80 && c < 0xa0) || c == 0x061c || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

int vp_put_escaped(vp_buf *b, vp_str s)
{
    for (size_t i = 0; i < s.n;) {
        const unsigned char *p = (const unsigned char *)s.p + i;
        unsigned len = vp_utf8_len(p, s.n - i);
        uint32_t c = len ? decode(p, len) : 0;
        if (!len || c < 0x20 || c == 0x7f) {
            vp_buf_printf(b, "\\x%02x", *p);
            i++;
        } else if (invisible(c)) {
            vp_buf_printf(b, "\\u{%x}", c);
            i += len;
        } else {
            vp_buf_put(b, p, len);
            i += len;
        }
    }
    return b->status;
}

size_t vp_display_width(vp_str s)
{
    size_t w = 0;
    for (size_t i = 0; i < s.n;) {
        const unsigned char *p = (const unsigned char *)s.p + i;
        unsigned len = vp_utf8_len(p, s.n - i);
        uint32_t c = len ? decode(p, len) : 0xfffd;
        if (!((c >= 0x300 && c < 0x370) || (c >= 0x20d0 && c < 0x2100) || c == 0xfe0f))
            w += (c >= 0x1100 && c < 0x1160) || (c >= 0x2e80 && c < 0xa4d0) ||
                         (c >= 0xac00 && c < 0xd7a4) || (c >= 0xf900 && c < 0xfb00) ||
                         (c >= 0xfe30 && c < 0xfe70) || (c >= 0xff00 && c < 0xff61) ||
                         (c >= 0x1f300 && c < 0x1f650) || (c >= 0x1f900 && c < 0x1fb00) ||
                         (c >= 0x20000 && c < 0x40000)
                     ? 2
                     : 1;
        i += len ? len : 1;
    }
    return w;
}
