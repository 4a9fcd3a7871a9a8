#include "server/mcp/mcp_text.h"

#include <string.h>

#include "trace/base/log.h"

#define MARK 3u

/* Bytes of the escaped text that fit without splitting a character or an escape. */
static size_t escaped_bytes_that_fit(vp_str s, size_t most)
{
    size_t n = most;
    if (s.n <= most)
        return s.n;
    while (n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
        n--;
    for (size_t back = 1; back < 10 && back <= n; back++)
        if (s.p[n - back] == '\\')
            return n - back;
    return n;
}

void mcp_put_marked(vp_buf *b, vp_str s, size_t most)
{
    vp_buf safe;
    vp_buf_init(&safe, 64u << 10);
    vp_put_escaped(&safe, vp_str_head(s, most + 1));
    vp_str text = vp_buf_view(&safe);
    size_t n = escaped_bytes_that_fit(text, most);
    vp_buf_puts(b, MCP_OPEN);
    for (size_t i = 0; i < n;) {
        bool mark = n - i >= MARK &&
                    (!memcmp(text.p + i, MCP_OPEN, MARK) || !memcmp(text.p + i, MCP_CLOSE, MARK));
        if (mark)
            vp_buf_putc(b, '|');
        else
            vp_buf_putc(b, text.p[i]);
        i += mark ? MARK : 1;
    }
    if (n < text.n || s.n > most + 1)
        vp_buf_puts(b, "…");
    vp_buf_puts(b, MCP_CLOSE);
    vp_buf_free(&safe);
}

vp_str mcp_without_marks(vp_str s)
{
    if (s.n >= 2 * MARK && vp_str_starts(s, VP_STR(MCP_OPEN)) && vp_str_ends(s, VP_STR(MCP_CLOSE)))
        return vp_str_head(vp_str_skip(s, MARK), s.n - 2 * MARK);
    return s;
}

void mcp_put_word(vp_buf *b, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:=,@+%";
    if (*word && strspn(word, plain) == strlen(word)) {
        vp_buf_puts(b, word);
        return;
    }
    vp_buf_putc(b, '\'');
    for (; *word; word++)
        if (*word == '\'')
            vp_buf_puts(b, "'\\''");
        else
            vp_buf_putc(b, *word);
    vp_buf_putc(b, '\'');
}
