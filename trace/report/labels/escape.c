#include "trace/report/labels/escape.h"

#include <ctype.h>
#include <string.h>

#include "trace/base/log.h"

/* The five characters with a meaning in HTML text and quoted attribute values. */
static const char *html_entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* The text between them is escaped as for the terminal: invisible characters (controls, bidi
 * controls, line separators, invalid UTF-8) become visible escapes. These escapes contain none of
 * the five, so one pass is enough. */
int rep_html_escape(vp_buf *b, vp_str s)
{
    size_t plain = 0;
    for (size_t i = 0; i < s.n; i++) {
        const char *e = html_entity_of(s.p[i]);
        if (!e)
            continue;
        vp_put_escaped(b, (vp_str){s.p + plain, i - plain});
        vp_buf_puts(b, e);
        plain = i + 1;
    }
    return vp_put_escaped(b, vp_str_skip(s, plain));
}

int rep_put_url(vp_buf *b, vp_str s, const char *plain)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c && ((c < 0x80 && isalnum(c)) || strchr(plain, c)))
            vp_buf_putc(b, (char)c);
        else
            vp_buf_printf(b, "%%%02X", c);
    }
    return b->status;
}

bool rep_put_source_url(vp_buf *b, const char *before, vp_str source, const char *root)
{
    static const char plain[] = "-._~/:";
    bool absolute = vp_str_starts(source, VP_STR("/"));
    if ((!absolute && !*root) || vp_str_starts(source, VP_STR("//")) ||
        vp_str_find(source, VP_STR("..")) < source.n)
        return false;
    vp_buf_puts(b, before);
    vp_buf_puts(b, "vscode://file");
    if (!absolute) {
        rep_put_url(b, vp_str_of(root), plain);
        vp_buf_putc(b, '/');
    }
    rep_put_url(b, source, plain);
    return true;
}
