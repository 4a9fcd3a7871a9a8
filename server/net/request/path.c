#include "server/net/request/path.h"

/* Buffer of decoded text: as long as the target plus one NUL per piece, so it cannot overflow. */
typedef struct writer {
    char *p;
    const char *why;
} writer;

static int refuse_target(writer *w, const char *why)
{
    w->why = why;
    return 400;
}

static int percent_hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Control characters in UTF-8: C0, DEL and C1 are never part of a valid name. */
static bool clean_utf8(vp_str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    for (size_t i = 0; i < s.n;) {
        unsigned len = vp_utf8_len(p + i, s.n - i);
        if (!len || p[i] < 0x20 || p[i] == 0x7f)
            return false;
        if (len == 2 && p[i] == 0xc2 && p[i + 1] < 0xa0)
            return false;
        i += len;
    }
    return true;
}

/* Decodes one piece at w->p; *out is NUL-terminated. */
static int decode_target_piece(writer *w, vp_str raw, bool plus_is_space, vp_str *out)
{
    char *start = w->p;
    for (size_t i = 0; i < raw.n; i++) {
        char c = raw.p[i];
        if (c == '%') {
            int hi = raw.n - i > 2 ? percent_hex_value(raw.p[i + 1]) : -1;
            int lo = raw.n - i > 2 ? percent_hex_value(raw.p[i + 2]) : -1;
            if (hi < 0 || lo < 0)
                return refuse_target(w, "invalid percent escape");
            c = (char)(hi * 16 + lo);
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        *w->p++ = c;
    }
    *out = (vp_str){start, (size_t)(w->p - start)};
    *w->p++ = 0;
    if (!clean_utf8(*out))
        return refuse_target(w, "control character or invalid UTF-8 in the URL");
    return 0;
}

static int target_add_segment(http_target *t, writer *w, vp_str raw)
{
    vp_str s;
    int rc = decode_target_piece(w, raw, false, &s);
    if (rc)
        return rc;
    if (memchr(s.p, '/', s.n) || memchr(s.p, '\\', s.n))
        return refuse_target(w, "slash or backslash inside a path segment");
    if (vp_str_eq(s, VP_STR(".")) || vp_str_eq(s, VP_STR("..")))
        return refuse_target(w, "dot segment in the path");
    if (t->segment_count == HTTP_SEGMENTS_MAX) {
        w->why = "page not found";
        return 404;
    }
    t->segments[t->segment_count++] = s.p;
    return 0;
}

static int parse_path(http_target *t, writer *w, vp_str path)
{
    if (!path.n || path.p[0] != '/')
        return refuse_target(w, "the URL path must start with /");
    path = vp_str_skip(path, 1);
    while (path.n) {
        vp_str part;
        size_t before = path.n;
        vp_take_until(&path, '/', VP_HTTP_TARGET_MAX, &part);
        if (!part.n)
            return refuse_target(w, "empty segment in the path");
        int rc = target_add_segment(t, w, part);
        if (rc)
            return rc;
        t->trailing_slash = !path.n && before == part.n + 1;
    }
    return 0;
}

static int parse_query(http_target *t, writer *w, vp_str query)
{
    while (query.n) {
        vp_str pair, key, value;
        vp_take_until(&query, '&', VP_HTTP_TARGET_MAX, &pair);
        if (!pair.n)
            continue;
        if (t->query_count == HTTP_QUERY_MAX)
            return refuse_target(w, "too many query parameters");
        value = pair;
        vp_take_until(&value, '=', VP_HTTP_TARGET_MAX, &key);
        int rc = decode_target_piece(w, key, true, &key);
        if (!rc)
            rc = decode_target_piece(w, value, true, &value);
        if (rc)
            return rc;
        t->query[t->query_count].key = key.p;
        t->query[t->query_count++].value = value.p;
    }
    return 0;
}

int http_target_parse(http_target *t, vp_str raw, const char **why)
{
    writer w = {t->text, "URL too long"};
    int rc = raw.n > VP_HTTP_TARGET_MAX ? 414 : 0;
    t->segment_count = t->query_count = 0;
    t->trailing_slash = false;
    for (size_t i = 0; !rc && i < raw.n; i++) {
        char c = raw.p[i];
        if ((unsigned char)c <= ' ' || (unsigned char)c >= 0x7f || c == '#' || c == '\\')
            rc = refuse_target(&w, "the URL contains a character that must be escaped");
    }
    if (!rc) {
        vp_str path, query = raw;
        vp_take_until(&query, '?', VP_HTTP_TARGET_MAX, &path);
        rc = parse_path(t, &w, path);
        if (!rc)
            rc = parse_query(t, &w, query);
    }
    *why = rc ? w.why : NULL;
    return rc;
}

const char *http_target_query(const http_target *t, const char *key)
{
    for (size_t i = 0; i < t->query_count; i++)
        if (!strcmp(t->query[i].key, key))
            return t->query[i].value;
    return NULL;
}
