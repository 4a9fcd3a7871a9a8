/* Learned layout of JSON objects. Profilers write the members of every event of a phase in the same
 * order with the same spaces. So the text between two values is compared with the text found there
 * in earlier objects, and parsed only if it differs. The texts form a tree: each has successors,
 * and alternatives at the same position. Nothing is allocated. */
#ifndef VP_READ_JSON_LAYOUT_H
#define VP_READ_JSON_LAYOUT_H

#include <string.h>

#include "trace/read/json/json_scan.h"

#define CJ_LAYOUT_TEXT 32u
#define CJ_LAYOUT_MAX 64u    /* Kineto's events need 40 */
#define CJ_LAYOUT_BESIDE 4u  /* maximum of alternatives compared one by one */
#define CJ_LAYOUT_CLOSE (-1) /* a field that is the closing brace */
typedef struct cj_layout_text {
    char text[CJ_LAYOUT_TEXT]; /* from the end of the previous value, or the brace, to this value */
    uint32_t n, mask;          /* mask: a bit for each byte */
    int field;
    uint32_t least;        /* the byte that follows must not be less: excludes further spaces */
    uint32_t next, beside; /* indices of other texts; 0: none */
    uint32_t fill[2];      /* pads to a power of two */
} cj_layout_text;

/* Initialize to zero: nothing is learned. */
typedef struct cj_layout {
    uint32_t first, none; /* none: successor of a text that is not stored */
    uint32_t count;
    cj_layout_text at[CJ_LAYOUT_MAX]; /* at[0] is unused */
} cj_layout;

/* Returns the field of a key. */
typedef int cj_field_fn(vp_str key);

/* True if [p, p + CJ_LAYOUT_TEXT) begins with the text. RD_PAD makes the bytes after the end
 * readable. */
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

/* Slow path of cj_next_field, if no stored text matches. */
js_step cj_learn_field(const char **at, const char *end, cj_layout *layout, uint32_t **link,
                       cj_field_fn *field_of, int *field);

/* js_next_key with a learned layout: returns the field of the member, and sets *at to its value.
 * *link is &layout->first before the first member of an object. A layout must always be used with
 * the same field_of. */
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
    /* Copies: variables whose address is not taken stay in registers. */
    uint32_t *l = *link;
    int f = 0;
    js_step step = cj_learn_field(&p, end, layout, &l, field_of, &f);
    *at = p;
    *link = l;
    *field = f;
    return step;
}

#endif
