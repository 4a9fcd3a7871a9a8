#include "trace/base/str.h"

#include <limits.h>

bool vp_str_starts_nocase(vp_str s, vp_str prefix)
{
    if (s.n < prefix.n)
        return false;
    for (size_t i = 0; i < prefix.n; i++)
        if (vp_lower(s.p[i]) != vp_lower(prefix.p[i]))
            return false;
    return true;
}

bool vp_str_eq_nocase(vp_str a, vp_str b)
{
    return a.n == b.n && vp_str_starts_nocase(a, b);
}

/* Compares the last byte first, which rejects nearly all names; letters that differ in case differ
 * in bit 5 only. */
bool vp_str_ends_nocase(vp_str s, vp_str suffix)
{
    if (s.n < suffix.n || (suffix.n && ((s.p[s.n - 1] ^ suffix.p[suffix.n - 1]) & ~0x20)))
        return false;
    return vp_str_eq_nocase(vp_str_skip(s, s.n - suffix.n), suffix);
}

size_t vp_str_find(vp_str s, vp_str needle)
{
    const char *p;
    if (!needle.n)
        return 0;
    p = s.n ? memmem(s.p, s.n, needle.p, needle.n) : NULL;
    return p ? (size_t)(p - s.p) : s.n;
}

size_t vp_str_find_nocase(vp_str s, vp_str needle)
{
    char first = needle.p[0], fold = first >= 'a' && first <= 'z' ? 0x20 : 0;
    for (size_t i = 0; i + needle.n <= s.n; i++)
        if ((s.p[i] | fold) == first && vp_str_starts_nocase((vp_str){s.p + i, s.n - i}, needle))
            return i;
    return s.n;
}

size_t vp_str_rfind_char(vp_str s, char c)
{
    const char *p = s.n ? memrchr(s.p, c, s.n) : NULL;
    return p ? (size_t)(p - s.p) : s.n;
}

vp_str vp_str_trim(vp_str s)
{
    while (s.n && (*s.p == ' ' || *s.p == '\t'))
        s = vp_str_skip(s, 1);
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    return s;
}

bool vp_take_until(vp_str *in, char stop, size_t max, vp_str *out)
{
    const char *hit = in->n ? memchr(in->p, stop, in->n) : NULL;
    size_t n = hit ? (size_t)(hit - in->p) : in->n;
    if (n > max)
        return false;
    *out = (vp_str){in->p, n};
    *in = vp_str_skip(*in, hit ? n + 1 : n);
    return true;
}

bool vp_take_uint(vp_str *in, uint64_t max, uint64_t *out)
{
    uint64_t v = 0;
    size_t i = 0;
    for (; i < in->n && in->p[i] >= '0' && in->p[i] <= '9'; i++) {
        unsigned d = (unsigned)(in->p[i] - '0');
        if (v > (max - d) / 10 || d > max)
            return false;
        v = v * 10 + d;
    }
    if (!i)
        return false;
    *in = vp_str_skip(*in, i);
    *out = v;
    return true;
}

bool vp_str_to_u64(vp_str s, uint64_t *out)
{
    uint64_t v;
    if (!vp_take_uint(&s, UINT64_MAX, &v) || s.n)
        return false;
    *out = v;
    return true;
}

bool vp_str_to_size(vp_str s, uint64_t max, uint64_t *out)
{
    unsigned shift = 0;
    char unit = s.n ? vp_lower(s.p[s.n - 1]) : 0;
    if (unit == 'k' || unit == 'm' || unit == 'g') {
        shift = unit == 'k' ? 10 : unit == 'm' ? 20 : 30;
        s.n--;
    }
    if (!vp_take_uint(&s, max >> shift, out) || s.n)
        return false;
    *out <<= shift;
    return true;
}

bool vp_str_to_i64(vp_str s, int64_t *out)
{
    uint64_t v;
    bool neg = s.n && *s.p == '-';
    if (neg)
        s = vp_str_skip(s, 1);
    if (!vp_take_uint(&s, (uint64_t)INT64_MAX + (neg ? 1 : 0), &v) || s.n)
        return false;
    *out = neg ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

/* A decimal number: value = (neg ? -1 : 1) * digits * 10^scale. 34 digits are kept, far below the
 * rounding of picoseconds. */
typedef struct decimal {
    __int128 digits;
    int scale;
    bool neg;
} decimal;

static bool take_sign(vp_str *s)
{
    bool neg = s->n && *s->p == '-';
    if (neg || (s->n && *s->p == '+'))
        *s = vp_str_skip(*s, 1);
    return neg;
}

static bool parse_decimal_digits(vp_str *s, decimal *d)
{
    bool point = false, any = false;
    int kept = 0;
    for (; s->n; *s = vp_str_skip(*s, 1)) {
        char c = *s->p;
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        any = true;
        if (kept >= 34) {
            d->scale += !point;
            continue;
        }
        d->digits = d->digits * 10 + (c - '0');
        kept += d->digits != 0;
        d->scale -= point;
    }
    return any;
}

static bool take_exponent(vp_str *s, decimal *d)
{
    uint64_t e = 0;
    size_t digits = 0;
    if (!s->n || (*s->p != 'e' && *s->p != 'E'))
        return true;
    *s = vp_str_skip(*s, 1);
    bool neg = take_sign(s);
    for (; s->n && *s->p >= '0' && *s->p <= '9'; *s = vp_str_skip(*s, 1), digits++)
        e = e < 10000 ? e * 10 + (uint64_t)(*s->p - '0') : e;
    d->scale += neg ? -(int)e : (int)e;
    return digits > 0;
}

/* digits * 10^scale as an integer, rounded half to even; false if it exceeds 2^120. */
static bool decimal_to_int128(const decimal *d, __int128 *out)
{
    __int128 v = d->digits, div = 1;
    int scale = v ? d->scale : 0;
    for (; scale > 0; scale--) {
        if (v > ((__int128)1 << 120) / 10)
            return false;
        v *= 10;
    }
    for (; scale < 0 && div <= v; scale++)
        div *= 10;
    if (scale < 0) /* below a tenth, so it rounds to 0 */
        v = 0, div = 1;
    __int128 rem = v % div, rest = div - rem;
    v /= div;
    *out = v + (rem > rest || (rem == rest && (v & 1)));
    return true;
}

bool vp_str_us_to_ps(vp_str s, int64_t base_us, int64_t *out_ps)
{
    decimal d = {.scale = 6};
    __int128 v;
    d.neg = take_sign(&s);
    if (!parse_decimal_digits(&s, &d) || !take_exponent(&s, &d) || s.n ||
        !decimal_to_int128(&d, &v))
        return false;
    v = (d.neg ? -v : v) - (__int128)base_us * 1000000;
    if (v > INT64_MAX || v < INT64_MIN)
        return false;
    *out_ps = (int64_t)v;
    return true;
}

unsigned vp_utf8_len(const unsigned char *p, size_t n)
{
    if (!n)
        return 0;
    if (p[0] < 0x80)
        return 1;
    if (p[0] >= 0xc2 && p[0] <= 0xdf)
        return n >= 2 && (p[1] & 0xc0) == 0x80 ? 2 : 0;
    if ((p[0] & 0xf0) == 0xe0) {
        if (n < 3 || (p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80)
            return 0;
        if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f))
            return 0;
        return 3;
    }
    if (p[0] >= 0xf0 && p[0] <= 0xf4) {
        if (n < 4 || (p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80 || (p[3] & 0xc0) != 0x80)
            return 0;
        if ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
            return 0;
        return 4;
    }
    return 0;
}

uint32_t vp_utf8_at(const unsigned char *p, unsigned len)
{
    /* The first byte of a sequence has as many leading 1 bits as the sequence has bytes, then a
     * 0. */
    uint32_t c = len < 2 ? len * p[0] : p[0] & 0x7fu >> len;
    for (unsigned i = 1; i < len; i++)
        c = c << 6 | (p[i] & 0x3fu);
    return c;
}

const char *vp_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

size_t vp_utf8_span(vp_str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    size_t i = 0;
    while (i < s.n) {
        unsigned len = p[i] < 0x80 ? 1 : vp_utf8_len(p + i, s.n - i);
        if (!len)
            break;
        i += len;
    }
    return i;
}
