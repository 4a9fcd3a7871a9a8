/* Walks over JSON that nobody wants as a whole: what surrounds the events, oversized events, junk.
 * Resumable at any byte, no tree and no stack, so it may be endless. It ends where js_skip_best()
 * would, also on broken text, or hostile text would be read again and again. On the way it looks at
 * every "key": value, because environments dumped into `metadata` carry credentials
 * (docs/reference/security.md#credentials-in-traces). The walk owns nothing. */
#ifndef VP_READ_JSON_WALK_H
#define VP_READ_JSON_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/str.h"

#define JS_KEY_MAX 128u /* longer keys are cut: none that matters is */

typedef enum js_walk_stop {
    JS_WALK_MORE,  /* the chunk is used up */
    JS_WALK_CLOSE, /* the bracket that closes depth 0 was taken */
    JS_WALK_KEY,   /* behind the ':' of a key at `key_depth`: see key, key_n */
    JS_WALK_DELIM, /* on a ',' or closing bracket at depth 0 (not taken) */
    JS_WALK_FOUND, /* behind the opening quote of a non-empty string: see key, key_n */
} js_walk_stop;

typedef struct js_walk {
    int64_t depth;     /* open brackets */
    int64_t key_depth; /* where keys are reported; -1: nowhere */
    bool find_strings; /* report "key": "string" with JS_WALK_FOUND */
    enum { JS_WALK_OUT, JS_WALK_SLASH, JS_WALK_IN_STRING, JS_WALK_ESCAPED, JS_WALK_VALUE } state;
    bool after_key; /* behind a ':' */
    bool is_value;  /* the string being walked is a value, whose text is nobody's business */
    size_t key_n;   /* of the last key */
    char key[JS_KEY_MAX];
} js_walk;

/* Walks from *p, which moves to where it stopped. */
js_walk_stop js_walk_on(js_walk *w, const char **p, const char *end);
static inline vp_str js_walk_key(const js_walk *w)
{
    return (vp_str){w->key, w->key_n};
}

/* A name that says that its value is a secret: TOKEN, SECRET, PASSWORD or KEY as a word of it
 * ("HF_TOKEN", "api-key"), words being split at _ - and . only; a bare "key" is none. */
bool js_names_a_secret(vp_str key);

#endif
