/* Scanner for the extent of JSON text: strings, nested values, members of an object. Nothing is
 * built or copied; slices point into the text. The syntax is that of browsers and trace viewers,
 * and slightly more tolerant: raw control characters count as text, commas may repeat or trail.
 * Functions may read up to RD_PAD bytes past `end`, without using them (SIMD). */
#ifndef VP_READ_JSON_SCAN_H
#define VP_READ_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/str.h"
#include "trace/read/json/json_lex.h"

/* p is at '{' or '[': returns the byte after its closing bracket, or NULL if that is not in [p,
 * end). Brackets are counted, not matched: this suffices to find the end, and deep input costs
 * nothing. */
typedef const char *js_skip_fn(const char *p, const char *end);

typedef enum js_backend { JS_PORTABLE, JS_SSE2, JS_AVX2 } js_backend;
/* NULL if this build or CPU does not support it. */
js_skip_fn *js_skip_backend(js_backend b);
/* The fastest one available. */
js_skip_fn *js_skip_best(void);

typedef enum js_type { JS_NONE, JS_STRING, JS_SCALAR, JS_NESTED } js_type;

/* A value as written: a string without its quotes, still escaped; a scalar (number, true, NaN, …);
 * or an object or array with its brackets. */
typedef struct js_value {
    vp_str s;
    js_type type;
} js_value;

typedef enum js_step {
    JS_BAD = -2,  /* not JSON */
    JS_MORE = -1, /* the text ends before */
    JS_CLOSE = 0, /* the object ends */
    JS_MEMBER = 1,
} js_step;

/* End of a number, true, NaN, …: the byte after it, or end. */
static inline const char *js_scalar_end(const char *p, const char *end)
{
#ifdef __SSE2__
    const __m128i space = _mm_set1_epi8(' '), comma = _mm_set1_epi8(',');
    const __m128i quote = _mm_set1_epi8('"'), close = _mm_set1_epi8('}');
    while (p < end) {
        __m128i v = _mm_loadu_si128((const __m128i *)p);
        __m128i folded = _mm_or_si128(v, _mm_set1_epi8(0x20)); /* ']' becomes '}' */
        __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(v, comma), _mm_cmpeq_epi8(folded, close));
        hit = _mm_or_si128(hit, _mm_cmpeq_epi8(v, quote));
        hit = _mm_or_si128(hit, _mm_cmpeq_epi8(_mm_min_epu8(v, space), v));
        unsigned bits = (unsigned)_mm_movemask_epi8(hit);
        if (bits) {
            p += __builtin_ctz(bits);
            return p < end ? p : end;
        }
        p += 16;
    }
    return end;
#else
    while (p < end && (unsigned char)*p > ' ' && *p != ',' && *p != '}' && *p != ']' && *p != '"')
        p++;
    return p;
#endif
}

/* Reads the next key and its colon, or the closing brace; *at is after '{' or after a member. On
 * JS_MEMBER *at moves to the value, on JS_CLOSE after the brace; else it is unchanged. */
static inline js_step js_next_key(const char **at, const char *end, vp_str *key)
{
    const char *p = *at < end && **at == ',' ? *at + 1 : *at, *q;
    p = js_skip_line(p, end, true);
    while (p < end && *p == ',')
        p = js_skip_space(p + 1, end, true);
    if (p == end)
        return JS_MORE;
    if (*p != '"') {
        *at = *p == '}' ? p + 1 : *at;
        return *p == '}' ? JS_CLOSE : JS_BAD;
    }
    q = js_string_end(p + 1, end);
    if (!q)
        return JS_MORE;
    *key = (vp_str){p + 1, (size_t)(q - p - 1)};
    p = js_skip_space(q + 1, end, true);
    if (p == end)
        return JS_MORE;
    if (*p != ':')
        return JS_BAD;
    p = js_skip_space(p + 1, end, true);
    if (p == end)
        return JS_MORE;
    *at = p;
    return JS_MEMBER;
}

/* Reads the value at *at, which moves after it on JS_MEMBER and is otherwise unchanged. Never
 * returns JS_CLOSE. */
static inline js_step js_take_value(const char **at, const char *end, js_skip_fn *skipper,
                                    js_value *value)
{
    const char *p = *at, *q;
    if (*p == '"') {
        q = js_string_end(p + 1, end);
        if (!q)
            return JS_MORE;
        value->s = (vp_str){p + 1, (size_t)(q - p - 1)};
        value->type = JS_STRING;
        *at = q + 1;
        return JS_MEMBER;
    }
    bool nested = *p == '{' || *p == '[';
    q = nested ? skipper(p, end) : js_scalar_end(p, end);
    if (!q || (!nested && q == end))
        return JS_MORE;
    if (q == p)
        return JS_BAD;
    value->s = (vp_str){p, (size_t)(q - p)};
    value->type = nested ? JS_NESTED : JS_SCALAR;
    *at = q;
    return JS_MEMBER;
}

/* Reads an integer of at most 17 digits without fraction or exponent, in one pass instead of three.
 * On success *at moves after it. */
static inline bool js_take_int(const char **at, const char *end, int64_t *out)
{
    const char *p = *at, *start = p + (*p == '-');
    int64_t v = 0;
    for (p = start; p < end && *p >= '0' && *p <= '9' && p - start < 17; p++)
        v = v * 10 + (*p - '0');
    if (p == start || p >= end || ((unsigned char)*p > ' ' && *p != ',' && *p != '}' && *p != ']'))
        return false;
    *out = **at == '-' ? -v : v;
    *at = p;
    return true;
}

/* Reads a whole member, or the closing brace. */
static inline js_step js_next_member(const char **at, const char *end, js_skip_fn *skipper,
                                     vp_str *key, js_value *value)
{
    const char *p = *at;
    js_step step = js_next_key(&p, end, key);
    if (step == JS_MEMBER)
        step = js_take_value(&p, end, skipper, value);
    if (step >= 0)
        *at = p;
    return step;
}

#endif
