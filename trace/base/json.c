#include "trace/base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void vp_json_init(vp_json *j, vp_buf *b)
{
    *j = (vp_json){.b = b};
}

static inline void before_value(vp_json *j)
{
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    if (j->depth && j->has_item)
        vp_buf_putc(j->b, ',');
    j->has_item = true;
}

static void json_open_container(vp_json *j, char c)
{
    before_value(j);
    vp_buf_putc(j->b, c);
    j->depth++;
    j->has_item = false;
}

static void json_close_container(vp_json *j, char c)
{
    if (j->depth)
        j->depth--;
    j->has_item = true; /* closing a container leaves its parent with an item, at any depth */
    vp_buf_putc(j->b, c);
}

void vp_json_begin_object(vp_json *j)
{
    json_open_container(j, '{');
}

void vp_json_end_object(vp_json *j)
{
    json_close_container(j, '}');
}

void vp_json_begin_array(vp_json *j)
{
    json_open_container(j, '[');
}

void vp_json_end_array(vp_json *j)
{
    json_close_container(j, ']');
}

void vp_json_key(vp_json *j, const char *key)
{
    before_value(j);
    vp_json_quote(j->b, vp_str_of(key));
    vp_buf_putc(j->b, ':');
    j->after_key = true;
}

#define EACH_BYTE(c) (UINT64_C(0x0101010101010101) * (c))
/* Sets the high bit of each byte of v that is below c; all bytes of v are below 0x80. Bytes after
 * the first match may be wrong. */
#define BELOW(v, c) (((v)-EACH_BYTE(c)) & EACH_BYTE(0x80))

/* A lower bound of the number of leading bytes that need no escaping, eight at a time. */
static size_t plain_ascii(vp_str s)
{
    size_t i = 0;
    for (uint64_t v; i + 8 <= s.n; i += 8) {
        memcpy(&v, s.p + i, 8);
        if ((v & EACH_BYTE(0x80)) || BELOW(v, 0x20) || BELOW(v ^ EACH_BYTE('"'), 1) ||
            BELOW(v ^ EACH_BYTE('\\'), 1) || BELOW(v ^ EACH_BYTE(0x7f), 1))
            break;
    }
    for (; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c < 0x20 || c > 0x7e || c == '"' || c == '\\')
            break;
    }
    return i;
}

/* Appends the whole text at once if nothing needs escaping, which holds for keys and most names. */
static bool quote_plain(vp_buf *b, vp_str s)
{
    char *p = plain_ascii(s) == s.n && s.n < SIZE_MAX - 2 ? vp_buf_room(b, s.n + 2) : NULL;
    if (!p)
        return false;
    p[0] = p[s.n + 1] = '"';
    if (s.n)
        memcpy(p + 1, s.p, s.n);
    vp_buf_wrote(b, s.n + 2);
    return true;
}

int vp_json_quote(vp_buf *b, vp_str s)
{
    size_t i = 0, plain = 0;
    if (quote_plain(b, s))
        return b->status;
    vp_buf_putc(b, '"');
    while (i < s.n) {
        unsigned char c = (unsigned char)s.p[i];
        bool ascii = c < 0x80;
        unsigned len = ascii ? 1 : vp_utf8_len((const unsigned char *)s.p + i, s.n - i);
        if (len && c >= 0x20 && c != '"' && c != '\\' && c != 0x7f) {
            i += len;
            continue;
        }
        vp_buf_put(b, s.p + plain, i - plain);
        if (c == '"' || c == '\\') {
            vp_buf_putc(b, '\\');
            vp_buf_putc(b, (char)c);
        } else if (!len) {
            vp_buf_puts(b, "\xef\xbf\xbd");
        } else if (c == '\n') {
            vp_buf_puts(b, "\\n");
        } else if (c == '\t') {
            vp_buf_puts(b, "\\t");
        } else {
            vp_buf_printf(b, "\\u%04x", c);
        }
        plain = ++i;
    }
    vp_buf_str(b, vp_str_skip(s, plain));
    return vp_buf_putc(b, '"');
}

void vp_json_str(vp_json *j, vp_str s)
{
    before_value(j);
    vp_json_quote(j->b, s);
}

void vp_json_cstr(vp_json *j, const char *z)
{
    if (z)
        vp_json_str(j, vp_str_of(z));
    else
        vp_json_null(j);
}

void vp_json_i64(vp_json *j, int64_t v)
{
    before_value(j);
    vp_buf_i64(j->b, v);
}

void vp_json_u64(vp_json *j, uint64_t v)
{
    before_value(j);
    vp_buf_u64(j->b, v);
}

void vp_json_bool(vp_json *j, bool v)
{
    before_value(j);
    vp_buf_puts(j->b, v ? "true" : "false");
}

void vp_json_null(vp_json *j)
{
    before_value(j);
    vp_buf_puts(j->b, "null");
}

void vp_json_ratio(vp_json *j, int64_t num, int64_t den)
{
    if (den == 0) {
        vp_json_null(j);
        return;
    }
    bool neg = (num < 0) != (den < 0);
    unsigned __int128 n = num < 0 ? 0 - (unsigned __int128)num : (unsigned __int128)num;
    unsigned __int128 d = den < 0 ? 0 - (unsigned __int128)den : (unsigned __int128)den;
    n = (n * 1000000000u * 2 + d) / (2 * d);
    before_value(j);
    if (neg && n)
        vp_buf_putc(j->b, '-');
    vp_buf_u64(j->b, (uint64_t)(n / 1000000000u));
    unsigned frac = (unsigned)(n % 1000000000u);
    if (frac) {
        char tmp[16];
        int len = snprintf(tmp, sizeof tmp, ".%09u", frac);
        while (len > 0 && tmp[len - 1] == '0')
            len--;
        vp_buf_put(j->b, tmp, (size_t)len);
    }
}

void vp_json_double(vp_json *j, double v)
{
    if (!isfinite(v)) {
        vp_json_null(j);
        return;
    }
    before_value(j);
    bool whole = v > -9e15 && v < 9e15 && v == (double)(int64_t)v; /* integers stay exact */
    vp_buf_printf(j->b, whole ? "%.0f" : "%.9g", v);
}

void vp_json_kstr(vp_json *j, const char *key, vp_str s)
{
    vp_json_key(j, key);
    vp_json_str(j, s);
}

void vp_json_kcstr(vp_json *j, const char *key, const char *z)
{
    vp_json_key(j, key);
    vp_json_cstr(j, z);
}

void vp_json_ki64(vp_json *j, const char *key, int64_t v)
{
    vp_json_key(j, key);
    vp_json_i64(j, v);
}

void vp_json_kbool(vp_json *j, const char *key, bool v)
{
    vp_json_key(j, key);
    vp_json_bool(j, v);
}

void vp_json_kdouble(vp_json *j, const char *key, double v)
{
    vp_json_key(j, key);
    vp_json_double(j, v);
}

void vp_json_kcount(vp_json *j, const char *key, int64_t v)
{
    vp_json_key(j, key);
    if (v < 0)
        vp_json_null(j);
    else
        vp_json_i64(j, v);
}
