#include "trace/read/json/json_lex.h"

#ifdef __SSE2__
/* Bit i: byte i is white space. */
static inline unsigned spaces(const char *p, bool odd)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i blank = _mm_cmpeq_epi8(v, _mm_set1_epi8(' '));
    __m128i control = _mm_sub_epi8(v, _mm_set1_epi8('\t'));
    control = _mm_cmpeq_epi8(_mm_min_epu8(control, _mm_set1_epi8('\r' - '\t')), control);
    if (!odd) {
        __m128i other = _mm_cmpeq_epi8(v, _mm_set1_epi8('\v'));
        other = _mm_or_si128(other, _mm_cmpeq_epi8(v, _mm_set1_epi8('\f')));
        control = _mm_andnot_si128(other, control);
    }
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(blank, control));
}

const char *js_skip_spaces(const char *p, const char *end, bool odd)
{
    for (; p < end; p += 16) {
        unsigned other = spaces(p, odd) ^ 0xffffu;
        if (other) {
            p += __builtin_ctz(other);
            return p < end ? p : end;
        }
    }
    return end;
}
#else
const char *js_skip_spaces(const char *p, const char *end, bool odd)
{
    while (p < end && js_is_space(*p) && (odd || !js_is_odd_space(*p)))
        p++;
    return p;
}
#endif
