/* The bytes that JSON's tokens are made of, defined once for all that looks at JSON: the reader,
 * the clean-up that exports it, and detection. White space is that of RFC 8259 2; VT and FF, which
 * isspace() of other writers lets through, are skipped by all and are exported by none.
 * Every function reads up to RD_PAD bytes behind `end` without believing them (SIMD). */
#ifndef VP_READ_JSON_LEX_H
#define VP_READ_JSON_LEX_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static inline bool js_is_odd_space(char c)
{
    return c == '\v' || c == '\f';
}

static inline bool js_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The first byte at or after p that is no white space, or end. */
const char *js_skip_spaces(const char *p, const char *end);
/* The same, but VT and FF are none. */
const char *js_skip_json_spaces(const char *p, const char *end);

/* Both, by `odd`. Compact text has no space at all, and pretty text mostly one ("key": value). */
static inline const char *js_skip_space(const char *p, const char *end, bool odd)
{
    if (p >= end)
        return end;
    if ((unsigned char)*p > ' ')
        return p;
    if (*p == ' ' && (unsigned char)p[1] > ' ')
        return p + 1;
    return odd ? js_skip_spaces(p, end) : js_skip_json_spaces(p, end);
}

/* The same before a member, where a line may begin: the usual indentation is not worth a call. */
static inline const char *js_skip_line(const char *p, const char *end, bool odd)
{
#ifdef __SSE2__
    if (p < end && *p == '\n') {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + 1));
        __m128i blank = _mm_cmpeq_epi8(v, _mm_set1_epi8(' '));
        p += 1 + __builtin_ctz((unsigned)_mm_movemask_epi8(blank) ^ 0x1ffffu);
    }
#endif
    return js_skip_space(p, end, odd);
}

/* In a string: the first '"' or '\\' at or after p, or end; with `odd` also the first byte that is
 * no printable ASCII. */
static inline const char *js_string_special(const char *p, const char *end, bool odd)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
    /* Bytes from 0x80 on are negative; with its bit 1 turned '"' is a blank, the first of the rest.
     */
    const __m128i bit = _mm_set1_epi8('"' ^ ' '), rest = _mm_set1_epi8(' ' + 1);
    for (; p < end; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i hit = odd ? _mm_cmplt_epi8(_mm_xor_si128(v, bit), rest) : _mm_cmpeq_epi8(v, quote);
        hit = _mm_or_si128(hit, _mm_cmpeq_epi8(v, slash));
        unsigned mask = (unsigned)_mm_movemask_epi8(hit);
        if (mask) {
            p += __builtin_ctz(mask);
            return p < end ? p : end;
        }
    }
    return end;
#else
    while (p < end && *p != '"' && *p != '\\' && !(odd && (signed char)*p < ' '))
        p++;
    return p < end ? p : end;
#endif
}

/* p stands behind the opening quote: the closing quote, or NULL when it is not in [p, end). */
static inline const char *js_string_end(const char *p, const char *end)
{
    while ((p = js_string_special(p, end, false)) < end) {
        if (*p == '"')
            return p;
        p += 2;
    }
    return NULL;
}

#endif
