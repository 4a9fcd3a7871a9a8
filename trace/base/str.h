/* Slices: bytes with a length, never NUL-terminated, never owned. Parsing consumes slices from
 * the front, each step with a maximum. Everyone may include this header. */
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

#undef VP_STR /* the recording macros have another one for their users */
#define VP_STR(literal) ((vp_str){(literal), sizeof(literal) - 1})
#define VP_STR_NONE ((vp_str){NULL, 0})
/* The same for constant tables. */
#define VP_STR_INIT(literal)                                                                       \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }
/* Whether the bytes at p, as many as the literal has, are the literal. */
#define VP_SAME(p, literal) (memcmp(p, literal, sizeof(literal) - 1) == 0)
/* For printf("%.*s"): at most so many bytes. They name s several times, so it must be a variable:
 * what a call returns has no address. */
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
    return (vp_str){n ? s.p + n : s.p, s.n - n}; /* not even 0 may be added to NULL */
}

static inline vp_str vp_str_head(vp_str s, size_t n)
{
    return (vp_str){s.p, n < s.n ? n : s.n};
}

static inline char vp_lower(char c) /* ASCII only */
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* ASCII case-insensitive. */
bool vp_str_eq_nocase(vp_str a, vp_str b);
bool vp_str_starts_nocase(vp_str s, vp_str prefix);
bool vp_str_ends_nocase(vp_str s, vp_str suffix);
/* First position of needle in s, or s.n. The _nocase needle must be lower case. */
size_t vp_str_find(vp_str s, vp_str needle);
size_t vp_str_find_nocase(vp_str s, vp_str lower_needle);
/* Position of the last byte c in s, or s.n. */
size_t vp_str_rfind_char(vp_str s, char c);
vp_str vp_str_trim(vp_str s); /* without spaces and tabs at both ends */

/* Takes bytes up to (not including) `stop` or the end into *out and drops the stop byte from *in.
 * false when the piece is longer than max. */
bool vp_take_until(vp_str *in, char stop, size_t max, vp_str *out);
/* Takes decimal digits (at least one) into *out, refusing values above max. */
bool vp_take_uint(vp_str *in, uint64_t max, uint64_t *out);
/* The whole slice is one decimal integer with optional '-'. */
bool vp_str_to_i64(vp_str s, int64_t *out);
bool vp_str_to_u64(vp_str s, uint64_t *out);
/* A size in bytes: digits, and K, M or G (binary) of either case. false: not that, or above max. */
bool vp_str_to_size(vp_str s, uint64_t max, uint64_t *out);

/* A decimal number of microseconds as text ("123", "-1.5", "1e3", "12.345678901") to integer
 * picoseconds minus base_us whole microseconds, exactly; digits below 1 ps are rounded half to
 * even. false if it is no number or does not fit. */
bool vp_str_us_to_ps(vp_str s, int64_t base_us, int64_t *out_ps);

/* Length of the valid UTF-8 sequence at p (1..4), or 0. Surrogates and overlongs are invalid. */
unsigned vp_utf8_len(const unsigned char *p, size_t n);
/* The character of the sequence at p, whose length vp_utf8_len gave; len 0: 0. */
uint32_t vp_utf8_at(const unsigned char *p, unsigned len);
/* How many bytes from the start on are valid UTF-8; s.n when all are. */
size_t vp_utf8_span(vp_str s);
/* The columns that a terminal gives a text: 2 for wide characters of East Asia and emoji, 0 for
 * what is set over or under another character and for format characters, else 1, also for a byte
 * that is no UTF-8. Of characters that make one picture together each counts. */
size_t vp_display_width(vp_str s);

/* What stands behind the last '/' of a path, in the path itself; all of it without one. */
const char *vp_path_name(const char *path);

#endif
