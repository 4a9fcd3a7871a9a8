/* How the objects of one sort are laid out: profilers write the members of every event of a phase
 * in the same order with the same spaces, so what stands between two values is compared with what
 * stood there in objects before, and looked at only where it differs. The texts are a tree: what
 * follows one, and beside it what else stood in that place. */
#ifndef VP_READ_JSON_LAYOUT_H
#define VP_READ_JSON_LAYOUT_H

#include <string.h>

#include "trace/read/json/json_scan.h"

#define CJ_LAYOUT_TEXT 32u
#define CJ_LAYOUT_MAX 64u    /* Kineto's events take 40 */
#define CJ_LAYOUT_BESIDE 4u  /* more are not compared one by one */
#define CJ_LAYOUT_CLOSE (-1) /* a field that is the closing brace */
typedef struct cj_layout_text {
    char text[CJ_LAYOUT_TEXT]; /* from behind the value before to this value, or behind the brace */
    uint32_t n, mask;          /* as many bits */
    int field;
    uint32_t least;        /* what follows is no less than this: no space that belongs to it */
    uint32_t next, beside; /* places of others; 0: none */
    uint32_t fill[2];      /* up to a power of two */
} cj_layout_text;

/* All zero: nothing is remembered. */
typedef struct cj_layout {
    uint32_t first, none; /* none: what follows something that is not remembered */
    uint32_t count;
    cj_layout_text at[CJ_LAYOUT_MAX]; /* but at[0] */
} cj_layout;

/* Which field a key is. */
typedef int cj_field_fn(vp_str key);

/* Whether [p, p + CJ_LAYOUT_TEXT), readable behind the end (RD_PAD), begins with the text. */
static inline bool cj_begins_with(const char *p, const cj_layout_text *t)
{
#ifdef __SSE2__
    __m128i a = _mm_loadu_si128((const __m128i *)p), b = _mm_loadu_si128((const __m128i *)t->text);
    uint32_t same = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b));
    if (t->n > 16) {
        a = _mm_loadu_si128((const __m128i *)(p + 16));
        b = _mm_loadu_si128((const __m128i *)(t->text + 16));
        same |= (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) << 16;
    }
    return (~same & t->mask) == 0;
#else
    return memcmp(p, t->text, t->n) == 0;
#endif
}

/* The rest of cj_next_field, where nothing that is remembered fits. */
js_step cj_learn_field(const char **at, const char *end, cj_layout *layout, uint32_t **link,
                       cj_field_fn *field_of, int *field);

/* js_next_key with that memory: the field of the member whose value *at then stands on. *link is
 * &layout->first before the first member of an object. One layout goes with one field_of. */
static inline js_step cj_next_field(const char **at, const char *end, cj_layout *layout,
                                    uint32_t **link, cj_field_fn *field_of, int *field)
{
    const char *p = *at;
    for (uint32_t i = **link; i; i = layout->at[i].beside) {
        cj_layout_text *t = &layout->at[i];
        if (t->n < (size_t)(end - p) && cj_begins_with(p, t) &&
            (unsigned char)p[t->n] >= t->least) {
            *at = p + t->n;
            *field = t->field;
            *link = &t->next;
            return t->field == CJ_LAYOUT_CLOSE ? JS_CLOSE : JS_MEMBER;
        }
    }
    /* Copies: what nobody takes the address of stays in registers. */
    uint32_t *l = *link;
    int f = 0;
    js_step step = cj_learn_field(&p, end, layout, &l, field_of, &f);
    *at = p;
    *link = l;
    *field = f;
    return step;
}

#endif
