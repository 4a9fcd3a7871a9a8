#include "server/cli/terminal/wrap.h"

#include "trace/base/buf.h"

void cli_wrap(vp_buf *b, vp_str text, size_t indent, size_t width)
{
    vp_str line, word;
    while (vp_take_until(&text, '\n', text.n, &line) && line.n) {
        size_t at = 0;
        while (line.n) {
            (void)vp_take_until(&line, ' ', line.n, &word);
            if (at && at + 1 + word.n > width) {
                vp_buf_putc(b, '\n');
                at = 0;
            }
            if (at)
                vp_buf_putc(b, ' ');
            else
                vp_buf_pad(b, ' ', at = indent);
            at += word.n + (at > indent);
            vp_buf_str(b, word);
        }
        vp_buf_putc(b, '\n');
        if (text.n)
            vp_buf_putc(b, '\n');
    }
}
