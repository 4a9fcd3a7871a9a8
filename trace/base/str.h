/* String slices: bytes with a length, not NUL-terminated, owned by someone else. Parsers consume
 * slices from the front, and each step has a maximum. Nothing is allocated. */
#ifndef VP_BASE_STR_H
#define VP_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "trace/base/hash.h"

typedef struct vp_str {
    const char *p;
    size_t n;
} vp_str;

#undef VP_STR /* view_profile_capture_macros.h defines another VP_STR for its users */
#define VP_STR(literal) ((vp_str){(literal), sizeof(literal) - 1})
#define VP_STR_NONE ((vp_str){NULL, 0})
/* The same for constant tables. */
#define VP_STR_INIT(literal)                                                                       \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }
/* True if the bytes at p start with the literal; at least as many bytes must be readable. */
#define VP_SAME(p, literal) (memcmp(p, literal, sizeof(literal) - 1) == 0)
/* Arguments for printf("%.*s"), limited to `most` bytes. The macro uses s several times and takes
 * its address, so s must be a variable. */
#define VP_STR_CUT(s, most)                                                                        \
    (int)((&(s))->n > (most) ? (most) : (&(s))->n), ((&(s))->p ? (&(s))->p : "")
#define VP_STR_ARG(s) VP_STR_CUT(s, 1u << 20)

static inline vp_str vp_str_of(const char *z)
{
    vp_str s = {z, z ? strlen(z) : 0};
    return s;
}

static inline bool vp_str_eq(vp_str a, vp_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool vp_str_starts(vp_str s, vp_str prefix)
{
    return !prefix.n || (s.n >= prefix.n && memcmp(s.p, prefix.p, prefix.n) == 0);
}

static inline bool vp_str_ends(vp_str s, vp_str suffix)
{
    return !suffix.n || (s.n >= suffix.n && memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

static inline vp_str vp_str_skip(vp_str s, size_t n)
{
    n = n < s.n ? n : s.n;
    return (vp_str){n ? s.p + n : s.p, s.n - n}; /* C forbids adding even 0 to NULL */
}

static inline vp_str vp_str_head(vp_str s, size_t n)
{
    return (vp_str){s.p, n < s.n ? n : s.n};
}

/* The text without the digits at its end. */
static inline vp_str vp_str_without_digits(vp_str s)
{
    while (s.n && s.p[s.n - 1] >= '0' && s.p[s.n - 1] <= '9')
        s.n--;
    return s;
}

static inline char vp_lower(char c) /* ASCII only */
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Comparisons that ignore the case of ASCII letters. */
bool vp_str_eq_nocase(vp_str a, vp_str b);
bool vp_str_starts_nocase(vp_str s, vp_str prefix);
bool vp_str_ends_nocase(vp_str s, vp_str suffix);
/* First position of needle in s, or s.n. The needle of the _nocase version must be in lower
 * case. */
size_t vp_str_find(vp_str s, vp_str needle);
size_t vp_str_find_nocase(vp_str s, vp_str lower_needle);
/* Position of the last byte c in s, or s.n. */
size_t vp_str_rfind_char(vp_str s, char c);
vp_str vp_str_trim(vp_str s); /* removes spaces and tabs at both ends */

/* Moves the bytes before `stop` (or the end) to *out, and removes them and the stop byte from *in.
 * false if the piece is longer than max. */
bool vp_take_until(vp_str *in, char stop, size_t max, vp_str *out);
/* Parses at least one decimal digit into *out; false for values above max. */
bool vp_take_uint(vp_str *in, uint64_t max, uint64_t *out);
/* Parse a whole slice as one decimal integer, the first with an optional '-'. */
bool vp_str_to_i64(vp_str s, int64_t *out);
bool vp_str_to_u64(vp_str s, uint64_t *out);
/* A size in bytes: digits with an optional K, M or G (binary, either case). false: malformed, or
 * above max. */
bool vp_str_to_size(vp_str s, uint64_t max, uint64_t *out);

/* Converts a decimal number of microseconds ("123", "-1.5", "1e3", "12.345678901") to integer
 * picoseconds minus base_us whole microseconds. Exact; digits below 1 ps are rounded half to even.
 * false if malformed or out of range. */
bool vp_str_us_to_ps(vp_str s, int64_t base_us, int64_t *out_ps);

/* Length of the valid UTF-8 sequence at p (1..4), or 0. Surrogates and overlongs are invalid. */
unsigned vp_utf8_len(const unsigned char *p, size_t n);
/* The code point of the sequence at p with length len from vp_utf8_len; 0 if len is 0. */
uint32_t vp_utf8_at(const unsigned char *p, unsigned len);
/* Number of leading bytes that are valid UTF-8; s.n if all are. */
size_t vp_utf8_span(vp_str s);
/* Columns of a text on a terminal: 2 for wide East Asian characters and emoji, 0 for combining and
 * format characters, else 1, also for an invalid byte. Each character of a joined emoji counts. */
size_t vp_display_width(vp_str s);

/* The part of a path after its last '/', inside the given string; all of it without a '/'. */
const char *vp_path_name(const char *path);

#endif
