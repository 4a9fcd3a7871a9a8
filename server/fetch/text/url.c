#include "server/fetch/text/url.h"

#include "trace/base/limits.h"

static bool is_unescaped_url_char(char c)
{
    return (c >= '0' && c <= '9') || (vp_lower(c) >= 'a' && vp_lower(c) <= 'z') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

int url_encode(vp_buf *b, vp_str s, bool keeps_slash)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < s.n; i++)
        if (is_unescaped_url_char(s.p[i]) || (keeps_slash && s.p[i] == '/')) {
            vp_buf_putc(b, s.p[i]);
        } else {
            unsigned char c = (unsigned char)s.p[i];
            vp_buf_put(b, (char[3]){'%', digits[c >> 4], digits[c & 15]}, 3);
        }
    return b->status;
}

static int url_hex_value(char c)
{
    c = vp_lower(c);
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int url_decode(vp_buf *b, vp_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        bool coded = s.p[i] == '%' && i + 2 < s.n && url_hex_value(s.p[i + 1]) >= 0 &&
                     url_hex_value(s.p[i + 2]) >= 0;
        vp_buf_putc(b, coded ? (char)(url_hex_value(s.p[i + 1]) * 16 + url_hex_value(s.p[i + 2]))
                             : s.p[i]);
        i += coded ? 2 : 0;
    }
    return b->status;
}

static const char *part_fault(vp_str part)
{
    if (!part.n)
        return "an empty path segment";
    return vp_str_eq(part, VP_STR(".")) || vp_str_eq(part, VP_STR("..")) ? "a path segment . or .."
                                                                         : NULL;
}

const char *url_name_fault(vp_str name)
{
    size_t begin = 0;
    if (name.n > VP_MEMBER_NAME_MAX)
        return "more than 1024 bytes";
    for (size_t i = 0; i < name.n; i++)
        if ((unsigned char)name.p[i] < 32 || name.p[i] == 127)
            return "a control character";
    for (size_t i = 0; i <= name.n; i++)
        if (i == name.n || name.p[i] == '/') {
            const char *fault = part_fault((vp_str){name.p + begin, i - begin});
            if (fault)
                return fault;
            begin = i + 1;
        }
    return NULL;
}

vp_str url_take_part(vp_str *s)
{
    vp_str part = {s->p, 0};
    while (part.n < s->n && s->p[part.n] != '/')
        part.n++;
    *s = vp_str_skip(*s, part.n + 1);
    return part;
}

vp_str url_without_end(vp_str s)
{
    while (s.n && s.p[s.n - 1] == '/')
        s.n--;
    return s;
}
