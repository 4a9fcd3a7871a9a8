/* Character classes of JSON tokens, shared by the reader, the exporter that repairs JSON, and
 * detection. White space is that of RFC 8259, section 2. VT and FF, which writers that use
 * isspace() accept, are skipped on input and never exported. Functions may read up to RD_PAD bytes
 * past `end`, without using them (SIMD). */
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

/* First byte at or after p that is not white space, or end. */
const char *js_skip_spaces(const char *p, const char *end);
/* The same, without VT and FF. */
const char *js_skip_json_spaces(const char *p, const char *end);

/* Either of both, depending on `odd`. Compact text has no spaces, and formatted text usually one
 * ("key": value). */
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

/* The same before a member, where a line may begin; handles the usual indentation inline. */
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

/* In a string: first '"' or '\\' at or after p, or end; with `odd` also the first byte that is not
 * printable ASCII. */
static inline const char *js_string_special(const char *p, const char *end, bool odd)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
    /* Bytes from 0x80 on are negative. With its bit 1 flipped '"' becomes a space, so all hits are
     * below `rest`. */
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

/* The closing quote of a string, given the position after its opening quote; NULL if not in [p,
 * end). */
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
