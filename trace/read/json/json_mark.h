/* Matching of the begin and the end of a span that a file writes as two events (B and E, or the
 * halves of async events). Pure functions. The JSON reader and the exporters that rewrite JSON
 * share them, because both must pair in the same way. */
#ifndef VP_READ_JSON_MARK_H
#define VP_READ_JSON_MARK_H

#include <stdbool.h>
#include <stdint.h>

/* Number of levels in which an end searches its begin, from the innermost outwards: Perfetto's
 * limit of nesting. It bounds the work for a deep stack of ends without begins. */
#define JS_SEARCH_MAX 512u

/* Hashes of name and category; 0: missing. */
typedef struct js_mark {
    uint32_t name, cat;
} js_mark;

/* True if the end closes the begin. A missing name or category matches any. */
static inline bool js_mark_fits(js_mark begin, js_mark end)
{
    return (!end.name || !begin.name || end.name == begin.name) &&
           (!end.cat || !begin.cat || end.cat == begin.cat);
}

#endif
