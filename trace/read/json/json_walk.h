/* Walker over JSON that is not decoded: text around the events, oversized events, junk. It is
 * resumable at any byte, without tree or stack, so the text may be endless. It ends at the same
 * byte as js_skip_best(), also on broken text; otherwise hostile text would be read repeatedly. On
 * the way it examines every "key": value, because environments dumped into `metadata` contain
 * credentials (docs/reference/security.md#credentials-in-traces). Nothing is allocated. */
#ifndef VP_READ_JSON_WALK_H
#define VP_READ_JSON_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/str.h"

#define JS_KEY_MAX 128u /* longer keys are truncated; no relevant key is longer */

typedef enum js_walk_stop {
    JS_WALK_MORE,  /* the chunk ends */
    JS_WALK_CLOSE, /* after the bracket that closes depth 0 */
    JS_WALK_KEY,   /* after the ':' of a key at `key_depth`: see key, key_n */
    JS_WALK_DELIM, /* at a ',' or closing bracket at depth 0, which is not consumed */
    JS_WALK_FOUND, /* after the opening quote of a non-empty string: see key, key_n */
} js_walk_stop;

typedef struct js_walk {
    int64_t depth;     /* open brackets */
    int64_t key_depth; /* depth at which keys are reported; -1: none */
    bool find_strings; /* report "key": "string" with JS_WALK_FOUND */
    enum { JS_WALK_OUT, JS_WALK_SLASH, JS_WALK_IN_STRING, JS_WALK_ESCAPED, JS_WALK_VALUE } state;
    bool after_key; /* after a ':' */
    bool is_value;  /* the current string is a value, which is not stored */
    size_t key_n;   /* of the last key */
    char key[JS_KEY_MAX];
} js_walk;

/* Walks from *p, which moves to the stop. */
js_walk_stop js_walk_on(js_walk *w, const char **p, const char *end);
static inline vp_str js_walk_key(const js_walk *w)
{
    return (vp_str){w->key, w->key_n};
}

/* True if the key's value is a secret: TOKEN, SECRET, PASSWORD or KEY is one of its words
 * ("HF_TOKEN", "api-key"). Words are separated by _ - and . only; a bare "key" does not count. */
bool js_names_a_secret(vp_str key);

#endif
