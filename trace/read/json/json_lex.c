#include "trace/read/json/json_lex.h"

#ifdef __SSE2__
/* Bit i: byte i is not white space. */
static inline unsigned non_space_bits(const char *p, bool odd)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i blank = _mm_cmpeq_epi8(v, _mm_set1_epi8(' '));
    __m128i control = _mm_sub_epi8(v, _mm_set1_epi8('\t'));
    control = _mm_cmpeq_epi8(_mm_min_epu8(control, _mm_set1_epi8('\r' - '\t')), control);
    if (!odd) {
        __m128i not_json = _mm_cmpeq_epi8(v, _mm_set1_epi8('\v'));
        not_json = _mm_or_si128(not_json, _mm_cmpeq_epi8(v, _mm_set1_epi8('\f')));
        control = _mm_andnot_si128(not_json, control);
    }
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(blank, control)) ^ 0xffffu;
}

static inline const char *skip_white_space(const char *p, const char *end, bool odd)
{
    for (; p < end; p += 16) {
        unsigned bits = non_space_bits(p, odd);
        if (bits) {
            p += __builtin_ctz(bits);
            return p < end ? p : end;
        }
    }
    return end;
}
#else
static inline const char *skip_white_space(const char *p, const char *end, bool odd)
{
    while (p < end && js_is_space(*p) && (odd || !js_is_odd_space(*p)))
        p++;
    return p;
}
#endif

const char *js_skip_spaces(const char *p, const char *end)
{
    return skip_white_space(p, end, true);
}

const char *js_skip_json_spaces(const char *p, const char *end)
{
    return skip_white_space(p, end, false);
}
