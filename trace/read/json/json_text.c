#include "trace/read/json/json_text.h"

#define REPLACEMENT 0xfffd

static char *encode_utf8(char *d, uint32_t c)
{
    if (c < 0x80) {
        *d++ = (char)c;
        return d;
    }
    if (c < 0x800) {
        *d++ = (char)(0xc0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *d++ = (char)(0xe0 | c >> 12);
        } else {
            *d++ = (char)(0xf0 | c >> 18);
            *d++ = (char)(0x80 | (c >> 12 & 0x3f));
        }
        *d++ = (char)(0x80 | (c >> 6 & 0x3f));
    }
    *d++ = (char)(0x80 | (c & 0x3f));
    return d;
}

/* The four digits of \uXXXX, or UINT32_MAX. */
static uint32_t parse_hex4(vp_str s)
{
    uint32_t v = 0;
    if (s.n < 4)
        return UINT32_MAX;
    for (size_t i = 0; i < 4; i++) {
        unsigned char c = (unsigned char)s.p[i];
        uint32_t digit = c >= '0' && c <= '9'   ? c - (uint32_t)'0'
                         : c >= 'a' && c <= 'f' ? c - (uint32_t)'a' + 10
                         : c >= 'A' && c <= 'F' ? c - (uint32_t)'A' + 10
                                                : 16;
        if (digit > 15)
            return UINT32_MAX;
        v = v << 4 | digit;
    }
    return v;
}

/* Reads a character after "\u", with the low half of a surrogate pair. */
static uint32_t take_unicode(vp_str *s)
{
    uint32_t c = parse_hex4(*s);
    if (c == UINT32_MAX)
        return REPLACEMENT;
    *s = vp_str_skip(*s, 4);
    if (c < 0xd800 || c > 0xdfff)
        return c;
    if (c < 0xdc00 && vp_str_starts(*s, VP_STR("\\u"))) {
        uint32_t low = parse_hex4(vp_str_skip(*s, 2));
        if (low >= 0xdc00 && low <= 0xdfff) {
            *s = vp_str_skip(*s, 6);
            return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    return REPLACEMENT;
}

/* Reads an escape after its backslash. */
static char *put_escape(char *d, vp_str *s)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    if (!s->n)
        return d;
    char c = *s->p;
    *s = vp_str_skip(*s, 1);
    if (c == 'u')
        return encode_utf8(d, take_unicode(s));
    const char *at = c ? strchr(from, c) : NULL;
    if (at)
        c = to[at - from];
    else if ((unsigned char)c >= 0x80) /* an escaped multi-byte character */
        *s = (vp_str){s->p - 1, s->n + 1};
    if ((unsigned char)c < 0x80)
        *d++ = c;
    return d;
}

/* Number of leading ASCII bytes without a backslash. */
static size_t plain_ascii_length(vp_str s)
{
    size_t n = 0;
    while (n < s.n && (signed char)s.p[n] >= 0 && s.p[n] != '\\')
        n++;
    return n;
}

size_t js_unescape(vp_str raw, char *dst)
{
    char *d = dst;
    while (raw.n) {
        size_t run = plain_ascii_length(raw);
        memcpy(d, raw.p, run);
        d += run;
        raw = vp_str_skip(raw, run);
        if (!raw.n)
            break;
        if (*raw.p == '\\') {
            raw = vp_str_skip(raw, 1);
            d = put_escape(d, &raw);
            continue;
        }
        unsigned n = vp_utf8_len((const unsigned char *)raw.p, raw.n);
        if (n) {
            memcpy(d, raw.p, n);
            d += n;
        } else {
            d = encode_utf8(d, REPLACEMENT);
        }
        raw = vp_str_skip(raw, n ? n : 1);
    }
    return (size_t)(d - dst);
}

/* Converts eight digits at once, on little-endian machines; false: not all are digits. */
static bool eight_digits(const char *p, uint32_t *value)
{
    uint64_t v;
    memcpy(&v, p, 8);
    v -= UINT64_C(0x3030303030303030);
    if ((v | (v + UINT64_C(0x7676767676767676))) & UINT64_C(0x8080808080808080))
        return false;
    v = v * 10 + (v >> 8); /* now pairs of digits, in every other byte */
    v = ((v & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064) +
         (v >> 16 & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001)) >>
        32;
    *value = (uint32_t)v;
    return true;
}

/* Reads an integer of up to 17 digits; *at moves after it. */
static int64_t take_whole(const char **at, const char *end)
{
    const char *p = *at, *start = p;
    int64_t whole = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint32_t eight;
    if (end - p >= 8 && eight_digits(p, &eight)) {
        whole = eight;
        p += 8;
    }
#endif
    while (p < end && *p >= '0' && *p <= '9' && p - start < 17)
        whole = whole * 10 + (*p++ - '0');
    *at = p;
    return whole;
}

#define PS_DIGITS 6 /* after the decimal point of microseconds */

/* Rounds *ps, half to even, by the digits after the 6th of the fraction. false: not digits. */
static bool round_rest(const char *p, const char *end, int64_t *ps)
{
    bool more = false;
    char first = *p;
    for (const char *q = p; q < end; q++) {
        if (*q < '0' || *q > '9')
            return false;
        more = more || (q > p && *q != '0');
    }
    if (first > '5' || (first == '5' && (more || (*ps & 1))))
        ++*ps;
    return true;
}

bool js_us_to_ps(vp_str s, int64_t base_us, int64_t *out)
{
    const char *p = s.p, *end = s.p + s.n, *start = p;
    int64_t whole = take_whole(&p, end), part = 0, ps;
    if (p == start || (p < end && *p != '.') || (p < end && p + 1 == end))
        return vp_str_us_to_ps(s, base_us, out);
    if (p < end) {
        static const int32_t scale[PS_DIGITS + 1] = {1000000, 100000, 10000, 1000, 100, 10, 1};
        const char *point = p++;
        while (p < end && *p >= '0' && *p <= '9' && p - point <= PS_DIGITS)
            part = part * 10 + (*p++ - '0');
        part *= scale[p - point - 1];
        if (p < end && !round_rest(p, end, &part))
            return vp_str_us_to_ps(s, base_us, out);
    }
    if (__builtin_sub_overflow(whole, base_us, &ps) ||
        __builtin_mul_overflow(ps, INT64_C(1000000), &ps) || __builtin_add_overflow(ps, part, &ps))
        return vp_str_us_to_ps(s, base_us, out);
    *out = ps;
    return true;
}

/* Reads digits as an integer of at most 17 digits; *shift: power of 10 to multiply with. *s is left
 * after the digits. false: there are none. */
static bool take_digits(vp_str *s, int64_t *value, int64_t *shift)
{
    bool any = false, point = false;
    for (*value = *shift = 0; s->n; *s = vp_str_skip(*s, 1)) {
        char c = *s->p;
        bool digit = c >= '0' && c <= '9', fits = *value < INT64_C(10000000000000000);
        if (!digit && (c != '.' || point))
            break;
        any = any || digit;
        if (digit && fits)
            *value = *value * 10 + (c - '0');
        *shift += digit ? !fits - point : 0;
        point = point || c == '.';
    }
    return any;
}

bool js_about(vp_str s, int64_t *out)
{
    int64_t v, shift, exponent = 0;
    bool negative = s.n && *s.p == '-';
    s = vp_str_skip(s, negative);
    if (!take_digits(&s, &v, &shift))
        return false;
    if (s.n) {
        bool e = *s.p == 'e' || *s.p == 'E', plus = s.n > 1 && s.p[1] == '+';
        if (!e || !vp_str_to_i64(vp_str_skip(s, 1 + (size_t)plus), &exponent) || exponent > 400 ||
            exponent < -400)
            return false;
    }
    for (shift += exponent; shift > 0 && v; shift--)
        if (__builtin_mul_overflow(v, INT64_C(10), &v))
            return false;
    for (; shift < 0 && v; shift++)
        v /= 10;
    *out = negative ? -v : v;
    return true;
}

bool js_time_base(vp_str first, int64_t *base_us)
{
    int64_t us;
    if (!js_about(first, &us))
        return false;
    *base_us = us > -JS_PLAIN_TIME_MAX_US && us < JS_PLAIN_TIME_MAX_US ? 0 : us;
    return true;
}

/* Drops ".0…" after an integer. */
static vp_str without_zero_fraction(vp_str s)
{
    size_t dot = vp_str_rfind_char(s, '.');
    for (size_t i = dot + 1; i < s.n; i++)
        if (s.p[i] != '0')
            return s;
    return vp_str_head(s, dot);
}

bool js_to_id(vp_str s, int64_t *id)
{
    uint64_t u;
    if (s.n && s.n < 19) { /* the common case: digits that cannot overflow */
        uint64_t v = 0;
        size_t i = 0;
        for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
            v = v * 10 + (uint64_t)(s.p[i] - '0');
        if (i == s.n) {
            *id = (int64_t)v;
            return true;
        }
    }
    s = without_zero_fraction(s);
    if (vp_str_to_i64(s, id))
        return true;
    if (!vp_str_to_u64(s, &u))
        return false;
    *id = (int64_t)u;
    return true;
}

int64_t js_to_count(vp_str s)
{
    uint64_t v;
    if (!vp_take_uint(&s, INT64_MAX, &v) || (s.n && *s.p != '.'))
        return -1;
    return (int64_t)v;
}
