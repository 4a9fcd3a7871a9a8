/* How the objects of one sort are laid out: profilers write the members of every event in the same
 * order with the same spaces, so what stands between two values is compared with what stood there
 * in the object before, and looked at only where it differs. Included by the readers of Chrome
 * JSON. */
#ifndef VP_READ_JSON_LAYOUT_H
#define VP_READ_JSON_LAYOUT_H

#include <string.h>

#include "trace/read/json/json_scan.h"

#define CJ_LAYOUT_TEXT 32u
#define CJ_LAYOUT_MAX 12u
typedef struct cj_layout {
    struct {
        char text[CJ_LAYOUT_TEXT]; /* from behind the value before to this value */
        uint32_t n;                /* 0: nothing remembered */
        int field;
    } member[CJ_LAYOUT_MAX];
} cj_layout;

/* Which field a key is. */
typedef int cj_field_fn(vp_str key);

/* Whether [p, p + CJ_LAYOUT_TEXT), readable behind the end (RD_PAD), begins with the text. */
static inline bool cj_begins_with(const char *p, const char *text, uint32_t n)
{
#ifdef __SSE2__
    __m128i a = _mm_loadu_si128((const __m128i *)p), b = _mm_loadu_si128((const __m128i *)text);
    uint32_t same = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b));
    if (n > 16) {
        a = _mm_loadu_si128((const __m128i *)(p + 16));
        b = _mm_loadu_si128((const __m128i *)(text + 16));
        same |= (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) << 16;
    }
    return (~same & (UINT32_MAX >> (32 - n))) == 0;
#else
    return memcmp(p, text, n) == 0;
#endif
}

static inline void cj_remember(cj_layout *layout, size_t member, vp_str text, int field)
{
    layout->member[member].n = 0;
    if (text.n > CJ_LAYOUT_TEXT)
        return;
    memcpy(layout->member[member].text, text.p, text.n);
    layout->member[member].n = (uint32_t)text.n;
    layout->member[member].field = field;
}

/* js_next_key with that memory: the field of the member, the object's `member`-th, whose value *at
 * then stands on. One layout goes with one field_of. */
static inline js_step cj_next_field(const char **at, const char *end, cj_layout *layout,
                                    size_t member, cj_field_fn *field_of, int *field)
{
    const char *p = *at;
    vp_str key;
    if (member < CJ_LAYOUT_MAX) {
        uint32_t n = layout->member[member].n;
        if (n && n < (size_t)(end - p) && cj_begins_with(p, layout->member[member].text, n) &&
            (unsigned char)p[n] > ' ') {
            *at = p + n;
            *field = layout->member[member].field;
            return JS_MEMBER;
        }
    }
    js_step step = js_next_key(at, end, &key);
    if (step != JS_MEMBER)
        return step;
    *field = field_of(key);
    if (member < CJ_LAYOUT_MAX)
        cj_remember(layout, member, (vp_str){p, (size_t)(*at - p)}, *field);
    return step;
}

#endif
