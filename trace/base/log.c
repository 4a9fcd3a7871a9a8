#include "trace/base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/fs.h"
#include "trace/base/secret.h"

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
    vp_hide_secrets(text, sizeof text);
    vp_buf_init(&b, 8192);
    vp_buf_puts(&b, "view_profile: ");
    vp_put_escaped(&b, vp_str_of(text));
    vp_buf_putc(&b, '\n');
    if (b.status >= 0)
        (void)!write(STDERR_FILENO, b.p, b.n);
    vp_buf_free(&b);
}

/* Characters that hide or reorder text: C1 controls, line separators, zero-width and bidirectional
 * controls, tags. */
static bool is_invisible_char(uint32_t c)
{
    return (c >= 0x80 && c < 0xa0) || c == 0x061c || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
           (c >= 0xe0000 && c <= 0xe0fff);
}

/* Number of printable ASCII bytes from i on. */
static size_t plain_span(vp_str s, size_t i)
{
    size_t end = i;
    while (end < s.n && s.p[end] >= 0x20 && s.p[end] < 0x7f)
        end++;
    return end - i;
}

int vp_put_escaped(vp_buf *b, vp_str s)
{
    for (size_t i = 0; i < s.n;) {
        size_t plain = plain_span(s, i);
        if (plain) {
            vp_buf_put(b, s.p + i, plain);
            i += plain;
            continue;
        }
        const unsigned char *p = (const unsigned char *)s.p + i;
        unsigned len = vp_utf8_len(p, s.n - i);
        uint32_t c = vp_utf8_at(p, len);
        if (!len || c < 0x20 || c == 0x7f) {
            vp_buf_printf(b, "\\x%02x", *p);
            i++;
        } else if (is_invisible_char(c)) {
            vp_buf_printf(b, "\\u{%x}", c);
            i += len;
        } else {
            vp_buf_put(b, p, len);
            i += len;
        }
    }
    return b->status;
}
