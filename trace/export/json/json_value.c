#include "trace/export/json/json_value.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "trace/read/json/json_scan.h"

typedef enum want {
    WANT_VALUE,
    WANT_VALUE_OR_END, /* after '[' */
    WANT_KEY,
    WANT_KEY_OR_END, /* after '{' */
    WANT_COLON,
    WANT_COMMA,
} want;

typedef enum member { MEMBER_OTHER, MEMBER_TS, MEMBER_NUMBER } member;

typedef struct scan {
    const char *p, *end;
    const char *copied; /* everything before is in `out` */
    const char *comma;  /* the comma just read, or NULL */
    vp_buf *out;
    size_t begin; /* of the value in `out` */
    ex_clean_counts found;
    unsigned depth; /* separate from `want`: testing both together would make the loop wait for
                     * stores */
    ex_fields *event;
    want want;
    member member;  /* key of a member of an event, whose value follows */
    ex_field field; /* field whose value follows or is being read; EX_FIELDS: none */
    bool useless, any;
    uint64_t objects[EX_JSON_DEPTH / 64]; /* bit d: depth d is an object, not an array */
} scan;

/* Scalars: also letters, so that NaN, None or 0x1F are one token. */
static const unsigned char scalar_char[256] = {
    ['0' ... '9'] = 1, ['a' ... 'z'] = 1, ['A' ... 'Z'] = 1, ['+'] = 1,
    ['-'] = 1,         ['.'] = 1,         ['_'] = 1,         ['#'] = 1,
};

/* Copies up to `at`, then writes `put` instead of the next `drop` bytes. */
static void scan_replace(scan *s, const char *at, size_t drop, vp_str put)
{
    vp_buf_put(s->out, s->copied, (size_t)(at - s->copied));
    vp_buf_str(s->out, put);
    s->copied = at + drop;
}

/* The code unit of a \uXXXX at p. 1, 0 if invalid, -1 if more bytes are needed. */
static int code_unit(const char *p, const char *end, unsigned *out)
{
    unsigned v = 0;
    for (int i = 0; i < 6; i++) {
        if (p + i >= end)
            return -1;
        unsigned char c = (unsigned char)p[i];
        if (i < 2) {
            if (c != "\\u"[i])
                return 0;
            continue;
        }
        unsigned char low = c | 0x20;
        if (c >= '0' && c <= '9')
            v = v << 4 | (c - '0');
        else if (low >= 'a' && low <= 'f')
            v = v << 4 | (low - 'a' + 10u);
        else
            return 0;
    }
    *out = v;
    return 1;
}

#define REPLACEMENT VP_STR("\xef\xbf\xbd")

/* Handles the \u escape at *p of a character below U+10000. Perfetto v52 decodes escapes only in
 * some strings (docs/reference/perfetto.md#importer-of-v52), so the character is written, unless
 * JSON requires an escape. */
static bool plain_unicode(scan *s, const char **p, unsigned c)
{
    char raw[3] = {(char)c};
    size_t n = 1;
    if (c >= 0x800) {
        raw[0] = (char)(0xe0 | c >> 12);
        raw[1] = (char)(0x80 | (c >> 6 & 63));
        raw[2] = (char)(0x80 | (c & 63));
        n = 3;
    } else if (c >= 0x80) {
        raw[0] = (char)(0xc0 | c >> 6);
        raw[1] = (char)(0x80 | (c & 63));
        n = 2;
    }
    if (c >= ' ' && c != '"' && c != '\\' && c != 0x7f) {
        scan_replace(s, *p, 6, (vp_str){raw, n});
        s->found.strings++;
    }
    *p += 6;
    return true;
}

/* Handles the \u escape at *p. false if more bytes are needed. */
static bool unicode_escape(scan *s, const char **p)
{
    unsigned high, low;
    int rc = code_unit(*p, s->end, &high);
    if (rc < 0)
        return false;
    if (rc > 0 && (high < 0xd800 || high > 0xdfff))
        return plain_unicode(s, p, high);
    size_t used = rc ? 6 : 2; /* of a broken escape only the "\u" is dropped */
    vp_str put = REPLACEMENT;
    char raw[4];
    if (rc && high < 0xdc00) {
        rc = code_unit(*p + 6, s->end, &low);
        if (rc < 0)
            return false;
        if (rc && low >= 0xdc00 && low <= 0xdfff) {
            unsigned c = 0x10000 + ((high & 0x3ff) << 10 | (low & 0x3ff));
            raw[0] = (char)(0xf0 | c >> 18);
            raw[1] = (char)(0x80 | (c >> 12 & 63));
            raw[2] = (char)(0x80 | (c >> 6 & 63));
            raw[3] = (char)(0x80 | (c & 63));
            put = (vp_str){raw, 4};
            used = 12;
        }
    }
    scan_replace(s, *p, used, put);
    s->found.strings++;
    *p += used;
    return true;
}

/* Handles the `\\` at *p. Perfetto v52 ignores a closing quote after it
 * (docs/reference/perfetto.md#importer-of-v52), so the last one of a string is written in another
 * form. */
static bool escaped_backslash(scan *s, const char **p)
{
    if (*p + 2 >= s->end)
        return false;
    if ((*p)[2] == '"') {
        scan_replace(s, *p, 2, VP_STR("\\u005c"));
        s->found.strings++;
    }
    *p += 2;
    return true;
}

/* Handles the escape at *p. A backslash before another character was not escaped by the writer:
 * "C:\vol". */
static bool scan_escape(scan *s, const char **p)
{
    if (*p + 1 >= s->end)
        return false;
    char c = (*p)[1];
    if (c == 'u')
        return unicode_escape(s, p);
    if (c == '\\')
        return escaped_backslash(s, p);
    if (c == '/') {
        scan_replace(s, *p, 2, VP_STR("/"));
        s->found.strings++;
        *p += 2;
        return true;
    }
    if (c && strchr("\"bfnrt", c)) {
        *p += 2;
        return true;
    }
    scan_replace(s, *p, 1, VP_STR("\\\\"));
    s->found.strings++;
    ++*p;
    return true;
}

/* Handles the byte at *p that is not printable ASCII, and the rest of its character. */
static bool odd_byte(scan *s, const char **p)
{
    const unsigned char *at = (const unsigned char *)*p;
    size_t left = (size_t)(s->end - *p);
    unsigned n = vp_utf8_len(at, left);
    char code[8];
    if (*at < ' ') {
        snprintf(code, sizeof code, "\\u%04x", *at);
        scan_replace(s, *p, n = 1, vp_str_of(code));
        s->found.strings++;
    } else if (!n) {
        if (left < 4 && !memchr(at, '"', left)) /* its end may be in the next chunk */
            return false;
        scan_replace(s, *p, n = 1, REPLACEMENT);
        s->found.strings++;
    }
    *p += n;
    return true;
}

/* Handles a character found by js_string_special() that is not the end of the string. false if more
 * bytes are needed. */
static __attribute__((noinline)) bool take_special(scan *s, const char **p)
{
    return **p == '\\' ? scan_escape(s, p) : odd_byte(s, p);
}

/* Scans the string at s->p. false if more bytes are needed. */
static bool scan_string(scan *s)
{
    const char *p = s->p + 1;
    for (;;) {
        p = js_string_special(p, s->end, true);
        if (p >= s->end)
            return false;
        if (*p == '"')
            break;
        if (!take_special(s, &p))
            return false;
    }
    s->p = p + 1;
    return true;
}

static inline const char *skip_digit_run(const char *p, const char *end)
{
#ifdef __SSE2__
    for (; p < end; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        v = _mm_sub_epi8(v, _mm_set1_epi8('0'));
        v = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(9)), v);
        unsigned others = (unsigned)_mm_movemask_epi8(v) ^ 0xffffu;
        if (others) {
            p += __builtin_ctz(others);
            return p < end ? p : end;
        }
    }
    return end;
#else
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
#endif
}

/* The end of the longest number at p (RFC 8259 6), or p if there is none. RD_PAD bytes after end
 * are readable. *exponent: set if it has one. */
static inline const char *number_with(const char *p, const char *end, bool *exponent)
{
    const char *start = p, *q;
    p += p < end && *p == '-';
    q = skip_digit_run(p, end);
    if (q == p || (*p == '0' && q > p + 1))
        return start;
    p = q;
    if (p < end && *p == '.') {
        q = skip_digit_run(++p, end);
        if (q == p)
            return start;
        p = q;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        q = skip_digit_run(p, end);
        if (q == p)
            return start;
        p = q;
        *exponent = true;
    }
    return p;
}

static const char *number_end(const char *p, const char *end)
{
    bool exponent;
    return number_with(p, end, &exponent);
}

/* Maximum characters of a number without an exponent that always fits in an int64_t, and of an
 * exponent of a double. */
#define SAFE_DIGITS 18
#define SAFE_EXPONENT 300

/* True if the importer would change the number: an integer beyond int64_t wraps, and a double that
 * overflows makes it skip all further args of the event. */
static bool is_beyond_importer(vp_str t)
{
    bool negative = vp_str_starts(t, VP_STR("-"));
    uint64_t v;
    size_t e = 0;
    while (e < t.n && (t.p[e] | 0x20) != 'e')
        e++;
    if (e < t.n) {
        vp_str exponent = vp_str_skip(t, e + 1);
        exponent = vp_str_skip(exponent, *exponent.p == '+' || *exponent.p == '-');
        return !vp_str_to_u64(exponent, &v) || v > SAFE_EXPONENT;
    }
    if (vp_str_find(t, VP_STR(".")) < t.n)
        return t.n > SAFE_EXPONENT;
    return !vp_str_to_u64(vp_str_skip(t, negative), &v) || v > (uint64_t)INT64_MAX + negative;
}

static bool is_literal(vp_str t)
{
    return vp_str_eq(t, VP_STR("null")) || vp_str_eq(t, VP_STR("true")) ||
           vp_str_eq(t, VP_STR("false"));
}

/* Writes +1, 007, .5, 5. and similar as valid JSON. false if t is not such a number. */
static bool mend_number(vp_str t, char *dst, size_t cap, size_t *n)
{
    const char *p = t.p, *end = t.p + t.n;
    size_t out = 0;
    if (2 * t.n + 2 > cap) /* a 0 may be added after every dot, and before the first one */
        return false;
    if (p < end && (*p == '-' || *p == '+')) {
        if (*p == '-')
            dst[out++] = '-';
        p++;
    }
    while (p + 1 < end && *p == '0' && p[1] >= '0' && p[1] <= '9')
        p++;
    if (p < end && *p == '.')
        dst[out++] = '0';
    for (; p < end; p++) {
        dst[out++] = *p;
        if (*p == '.' && (p + 1 == end || p[1] < '0' || p[1] > '9'))
            dst[out++] = '0';
    }
    *n = out;
    return out && number_end(dst, dst + out) == dst + out;
}

static void quote_number(scan *s, vp_str t)
{
    scan_replace(s, t.p, 0, VP_STR("\""));
    scan_replace(s, t.p + t.n, 0, VP_STR("\""));
}

/* A token that the importer cannot parse. In args it would lose all args of the event. */
static void mend_scalar(scan *s, vp_str t)
{
    char fixed[128 + RD_PAD];
    size_t n;
    s->found.numbers++;
    if (mend_number(t, fixed, 128, &n)) {
        scan_replace(s, t.p, t.n, (vp_str){fixed, n});
    } else if (s->member == MEMBER_NUMBER) {
        scan_replace(s, t.p, t.n, VP_STR("0"));
        if (s->field == EX_DUR)
            s->event->bad_dur = true;
    } else if (s->member == MEMBER_TS) {
        s->useless = true;
    } else {
        quote_number(s, t);
    }
}

static ex_verdict scan_scalar(scan *s)
{
    const char *number = number_end(s->p, s->end), *q = number;
    while (q < s->end && scalar_char[(unsigned char)*q])
        q++;
    if (q == s->end)
        return EX_MORE;
    vp_str t = {s->p, (size_t)(q - s->p)};
    if (!t.n)
        return EX_BROKEN;
    if (q > number && (s->member != MEMBER_OTHER || !is_literal(t))) {
        mend_scalar(s, t);
    } else if (s->field == EX_ARGS && q == number && is_beyond_importer(t)) {
        s->found.numbers++;
        quote_number(s, t);
    }
    s->p = q;
    return EX_KEPT;
}

static bool in_object(const scan *s)
{
    return s->depth && (s->objects[s->depth / 64] >> (s->depth % 64) & 1);
}

/* Bytes of the value that are written, or would be if all up to p were copied. */
static size_t scan_bytes_written(const scan *s)
{
    return s->out->n + (size_t)(s->p - s->copied) - s->begin;
}

static void begin_field(scan *s)
{
    if (s->field < EX_FIELDS)
        s->event->v[s->field].at = (uint32_t)scan_bytes_written(s);
}

static inline void end_field(scan *s)
{
    if (s->field < EX_FIELDS)
        s->event->v[s->field].n = (uint32_t)scan_bytes_written(s) - s->event->v[s->field].at;
    s->field = EX_FIELDS;
}

static ex_verdict scan_open_container(scan *s, bool object)
{
    if (s->member != MEMBER_OTHER)
        s->useless = true; /* an object where a number belongs */
    if (++s->depth >= EX_JSON_DEPTH)
        return EX_BROKEN;
    uint64_t bit = UINT64_C(1) << (s->depth % 64);
    uint64_t *word = &s->objects[s->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    s->want = object ? WANT_KEY_OR_END : WANT_VALUE_OR_END;
    s->member = MEMBER_OTHER;
    s->p++;
    return EX_KEPT;
}

static ex_verdict close_container(scan *s, bool object)
{
    if (!s->depth || in_object(s) != object || s->want == WANT_COLON)
        return EX_BROKEN;
    if (s->want == WANT_KEY || s->want == WANT_VALUE) {
        if (!s->comma)
            return EX_BROKEN;
        scan_replace(s, s->comma, 1, VP_STR_NONE);
        s->found.commas++;
    }
    s->depth--;
    s->want = WANT_COMMA;
    s->p++;
    if (s->depth == 1)
        end_field(s);
    return EX_KEPT;
}

/* True if a member of an event outside of our fields must be a number. */
static bool is_thread_time(vp_str key)
{
    return vp_str_eq(key, VP_STR("tts")) || vp_str_eq(key, VP_STR("tdur"));
}

/* A member of the event itself. */
static void event_member(scan *s, vp_str key)
{
    s->field = ex_field_of(key);
    s->member = s->field == EX_TS ? MEMBER_TS : MEMBER_OTHER;
    if (s->field == EX_DUR || s->field == EX_PID || s->field == EX_TID || is_thread_time(key))
        s->member = MEMBER_NUMBER;
}

static ex_verdict scan_key(scan *s)
{
    const char *start = s->p + 1;
    if (!scan_string(s))
        return EX_MORE;
    s->any = true;
    if (s->event && s->depth == 1)
        event_member(s, (vp_str){start, (size_t)(s->p - 1 - start)});
    s->want = WANT_COLON;
    return EX_KEPT;
}

static ex_verdict scan_value(scan *s, char c)
{
    ex_verdict v = EX_KEPT;
    if (s->depth == 1)
        begin_field(s);
    if (c == '{' || c == '[')
        return scan_open_container(s, c == '{');
    if (c == '"') {
        if (!scan_string(s))
            return EX_MORE;
    } else {
        v = scan_scalar(s);
    }
    s->member = MEMBER_OTHER;
    s->want = WANT_COMMA;
    if (s->depth == 1)
        end_field(s);
    return v;
}

static ex_verdict scan_separator(scan *s, char c)
{
    if (c == ',' && s->want == WANT_COMMA && s->depth) {
        s->comma = s->p;
        s->want = in_object(s) ? WANT_KEY : WANT_VALUE;
    } else if (c == ':' && s->want == WANT_COLON) {
        s->want = WANT_VALUE;
    } else {
        return EX_BROKEN;
    }
    s->p++;
    return EX_KEPT;
}

static ex_verdict scan_token(scan *s, char c)
{
    if (c == '}' || c == ']')
        return close_container(s, c == '}');
    if (c == ',' || c == ':')
        return scan_separator(s, c);
    s->comma = NULL;
    switch (s->want) {
    case WANT_KEY:
    case WANT_KEY_OR_END:
        return c == '"' ? scan_key(s) : EX_BROKEN;
    case WANT_VALUE:
    case WANT_VALUE_OR_END:
        return scan_value(s, c);
    default:
        return EX_BROKEN;
    }
}

/* Drops white space at s->p that JSON does not allow. A trailing comma before it is dropped too:
 * data after it is copied before close_container sees the comma. */
static ex_verdict odd_space(scan *s)
{
    const char *q = s->p, *from = s->p;
    while (q < s->end && js_is_space(*q))
        q++;
    if (q == s->end)
        return EX_MORE;
    if (s->comma && (*q == '}' || *q == ']')) {
        from = s->comma;
        s->comma = NULL;
        s->want = WANT_COMMA;
        s->found.commas++;
    }
    scan_replace(s, from, (size_t)(q - from), VP_STR_NONE);
    s->p = q;
    return EX_KEPT;
}

static ex_verdict whole_value(scan *s)
{
    do {
        s->p = js_skip_space(s->p, s->end, false);
        if (s->p == s->end)
            return EX_MORE;
        ex_verdict v = js_is_odd_space(*s->p) ? odd_space(s) : scan_token(s, *s->p);
        if (v != EX_KEPT)
            return v;
    } while (s->depth || s->want != WANT_COMMA);
    if (s->useless)
        return EX_USELESS;
    return s->event && !s->any ? EX_EMPTY : EX_KEPT;
}

ex_verdict ex_json_value(vp_buf *out, const char **p, const char *end, ex_fields *event,
                         ex_clean_counts *counts)
{
    scan s;
    size_t before = out->n;
    if (event)
        *event = (ex_fields){0};
    s.begin = before;
    s.field = EX_FIELDS;
    s.p = s.copied = *p;
    s.end = end;
    s.comma = NULL;
    s.out = out;
    s.found = (ex_clean_counts){0};
    s.depth = 0;
    s.want = WANT_VALUE;
    s.member = MEMBER_OTHER;
    s.event = event;
    s.useless = s.any = false;
    ex_verdict v = whole_value(&s);
    if (v == EX_KEPT) {
        vp_buf_put(out, s.copied, (size_t)(s.p - s.copied));
        counts->strings += s.found.strings;
        counts->numbers += s.found.numbers;
        counts->commas += s.found.commas;
    } else if (out->status >= 0) {
        out->n = before;
    }
    if (v != EX_MORE)
        *p = s.p;
    return v;
}

/* ---- Events that are copied as they are ------------------------------------------------------ */

/* The length of a sequence found by js_string_special(), if it can be copied; else 0. */
static __attribute__((noinline)) size_t plain_special(const char *p, const char *end)
{
    size_t left = (size_t)(end - p);
    if (*p != '\\')
        return (unsigned char)*p < ' ' ? 0 : vp_utf8_len((const unsigned char *)p, left);
    if (left < 3)
        return 0;
    return p[1] == '\\' ? (p[2] == '"' ? 0 : 2) : p[1] && strchr("\"bfnrt", p[1]) ? 2 : 0;
}

/* The position after the string whose opening quote is before p, or NULL. */
static inline const char *plain_string(const char *p, const char *end)
{
    for (;;) {
        p = js_string_special(p, end, true);
        if (p >= end)
            return NULL;
        if (*p == '"')
            return p + 1;
        size_t n = plain_special(p, end);
        if (!n)
            return NULL;
        p += n;
    }
}

/* The position after the number or, if allowed, the literal at p, or NULL; also if the number may
 * be one that is_beyond. */
static inline const char *plain_scalar(const char *p, const char *end, bool number)
{
    bool exponent = false;
    const char *q = number_with(p, end, &exponent);
    if ((exponent || q - p > SAFE_DIGITS) && is_beyond_importer((vp_str){p, (size_t)(q - p)}))
        return NULL;
    if (q == p && !number)
        q += VP_SAME(p, "null") || VP_SAME(p, "true") ? 4 : VP_SAME(p, "false") ? 5 : 0;
    return q == p || q >= end || scalar_char[(unsigned char)*q] ? NULL : q;
}

/* The position after the key at p, its colon and white space, or NULL. */
static inline const char *plain_key(const char *p, const char *end, vp_str *key)
{
    if (p >= end || *p != '"')
        return NULL;
    const char *q = plain_string(p + 1, end);
    if (!q)
        return NULL;
    *key = (vp_str){p + 1, (size_t)(q - 1 - (p + 1))};
    q = js_skip_space(q, end, false);
    return q < end && *q == ':' ? js_skip_space(q + 1, end, false) : NULL;
}

typedef struct plain {
    const char *start, *end;
    ex_fields *event;
    ex_field field; /* whose value is being read; EX_FIELDS: none */
    bool number;    /* it must be one */
    uint64_t open;  /* a 1, then for each open container whether it is an object */
} plain;

#define PLAIN_EVENT 3u /* `open` between the members of the event itself */

/* A value has ended before p: the position after closing brackets and white space, or NULL. */
static inline const char *plain_closed(plain *s, const char *p)
{
    for (;;) {
        if (s->open == PLAIN_EVENT && s->field < EX_FIELDS)
            s->event->v[s->field].n = (uint32_t)(p - s->start) - s->event->v[s->field].at;
        p = js_skip_line(p, s->end, false);
        if (p >= s->end)
            return NULL;
        if (*p != (s->open & 1 ? '}' : ']'))
            return *p == ',' ? p : NULL;
        p++;
        s->open >>= 1;
        if (s->open == 1)
            return p;
    }
}

/* The start of the value of the next member or element, or NULL. */
static inline const char *plain_member(plain *s, const char *p)
{
    vp_str key;
    p = js_skip_line(p, s->end, false);
    if (!(s->open & 1))
        return p < s->end ? p : NULL;
    p = plain_key(p, s->end, &key);
    s->number = false;
    if (p && s->open == PLAIN_EVENT) {
        s->field = ex_field_of(key);
        s->number = s->field == EX_TS || s->field == EX_DUR || s->field == EX_PID ||
                    s->field == EX_TID || (s->field == EX_FIELDS && is_thread_time(key));
        if (s->field < EX_FIELDS)
            s->event->v[s->field].at = (uint32_t)(p - s->start);
    }
    return p < s->end ? p : NULL;
}

bool ex_json_plain(const char **at, const char *end, ex_fields *event)
{
    plain s = {*at, end, event, EX_FIELDS, false, PLAIN_EVENT};
    const char *p = *at + 1;
    *event = (ex_fields){0};
    for (;;) {
        p = plain_member(&s, p);
        if (!p)
            return false;
        if (*p == '{' || *p == '[') {
            bool object = *p == '{';
            if (s.number || s.open >> 63)
                return false;
            p = js_skip_line(p + 1, end, false);
            s.open = s.open << 1 | object;
            if (p < end && *p != (object ? '}' : ']'))
                continue;
            s.open >>= 1;
            p++;
        } else {
            p = *p == '"' ? plain_string(p + 1, end) : plain_scalar(p, end, s.number);
        }
        p = p ? plain_closed(&s, p) : NULL;
        if (!p)
            return false;
        if (s.open == 1)
            break;
        p++;
    }
    *at = p;
    return true;
}

/* ---- Events that are only scanned ------------------------------------------------------------ */

/* True if a member is missing, or a number in its final form. */
static inline bool is_plain_number(const char *text, const ex_fields *f, ex_field i)
{
    const char *p = text + f->v[i].at, *end = p + f->v[i].n;
    return p == end || number_end(p, end) == end;
}

/* True if the copy would have the same position. Names and ids that are strings are compared in
 * their written form, and need writing. */
static bool stays_as_it_is(const char *text, const ex_fields *f)
{
    const char *phase = text + f->v[EX_PH].at;
    return is_plain_number(text, f, EX_TS) && is_plain_number(text, f, EX_DUR) &&
           is_plain_number(text, f, EX_PID) && is_plain_number(text, f, EX_TID) &&
           !(f->v[EX_PH].n > 2 && (phase[1] == 'M' || phase[1] == '\\'));
}

ex_verdict ex_json_glance(const char **p, const char *end, ex_fields *event)
{
    const char *q = *p + 1;
    js_skip_fn *skip = js_skip_best();
    js_value v;
    vp_str key;
    js_step step;
    bool any = false;
    *event = (ex_fields){0};
    while ((step = js_next_member(&q, end, skip, &key, &v)) == JS_MEMBER) {
        ex_field f = ex_field_of(key);
        any = true;
        if (f == EX_FIELDS)
            continue;
        unsigned quotes = v.type == JS_STRING;
        event->v[f].at = (uint32_t)(v.s.p - *p) - quotes;
        event->v[f].n = (uint32_t)v.s.n + 2 * quotes;
    }
    if (step != JS_CLOSE)
        return step == JS_MORE ? EX_MORE : EX_BROKEN;
    if (!stays_as_it_is(*p, event))
        return EX_BROKEN;
    *p = q;
    return any ? EX_KEPT : EX_EMPTY;
}

/* Skips the rest of a string; false when [*p,end) is used up. */
static bool skip_string(ex_json_skipper *s, const char **p, const char *end)
{
    while (*p < end) {
        if (s->escaped) {
            s->escaped = false;
            ++*p;
            continue;
        }
        *p = js_string_special(*p, end, false);
        if (*p >= end)
            return false;
        char c = *(*p)++;
        if (c == '"') {
            s->in_string = false;
            return true;
        }
        s->escaped = true;
    }
    return false;
}

bool ex_json_skip(ex_json_skipper *s, const char **p, const char *end)
{
    while (*p < end) {
        if (s->in_string) {
            if (!skip_string(s, p, end))
                return false;
            if (!s->depth)
                return true;
            continue;
        }
        char c = **p;
        bool closes = c == '}' || c == ']';
        if (!s->depth && (closes || c == ',' || (s->in_scalar && !scalar_char[(unsigned char)c])))
            return true;
        ++*p;
        if (c == '"') {
            s->in_string = true;
        } else if (c == '{' || c == '[') {
            s->depth++;
        } else if (closes) {
            if (!--s->depth)
                return true;
        } else if (!s->depth && scalar_char[(unsigned char)c]) {
            s->in_scalar = true;
        }
    }
    return false;
}
