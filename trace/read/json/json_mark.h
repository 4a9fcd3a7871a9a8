/* What a begin and its end have in common, where a file tells a span in two events (B and E, or the
 * halves of async ones). Pure functions. The JSON reader and the exporters that rewrite JSON share
 * these functions, because both must pair alike. */
#ifndef VP_READ_JSON_MARK_H
#define VP_READ_JSON_MARK_H

#include <stdbool.h>
#include <stdint.h>

/* How far down an end looks for its begin, from the innermost outwards: Perfetto's limit of
 * nesting. It bounds the work on a deep stack of ends that fit nothing. */
#define JS_SEARCH_MAX 512u

/* Hashes of name and category; 0: it has none. */
typedef struct js_mark {
    uint32_t name, cat;
} js_mark;

/* Whether an end closes a begin. A name or category that is missing fits any. */
static inline bool js_mark_fits(js_mark begin, js_mark end)
{
    return (!end.name || !begin.name || end.name == begin.name) &&
           (!end.cat || !begin.cat || end.cat == begin.cat);
}

#endif
