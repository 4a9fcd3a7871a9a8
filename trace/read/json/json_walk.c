#include "trace/read/json/json_walk.h"

#include "trace/read/json/json_scan.h"

static void walk_keep_key_bytes(js_walk *w, const char *p, size_t n)
{
    size_t left = JS_KEY_MAX - w->key_n;
    if (w->is_value)
        return;
    n = n < left ? n : left;
    memcpy(w->key + w->key_n, p, n);
    w->key_n += n;
}

/* Walks to the end of a string; false: the chunk ends before. */
static bool walk_string(js_walk *w, const char **at, const char *end)
{
    const char *p = *at;
    while (p < end) {
        if (w->state == JS_WALK_ESCAPED) {
            walk_keep_key_bytes(w, p++, 1);
            w->state = JS_WALK_IN_STRING;
            continue;
        }
        const char *start = p;
        while (p < end && *p != '"' && *p != '\\') {
            const char *quote = memchr(p, '"', (size_t)(end - p));
            const char *limit = quote ? quote : end;
            const char *slash = memchr(p, '\\', (size_t)(limit - p));
            p = slash ? slash : limit;
        }
        walk_keep_key_bytes(w, start, (size_t)(p - start));
        if (p == end)
            break;
        if (*p == '"') {
            w->state = JS_WALK_OUT;
            *at = p + 1;
            return true;
        }
        walk_keep_key_bytes(w, p++, 1);
        w->state = JS_WALK_ESCAPED;
    }
    *at = p;
    return false;
}

/* Processes one byte outside of strings; true: the walk stops there. */
static bool walk_byte(js_walk *w, const char **at, js_walk_stop *stop)
{
    char c = *(*at)++;
    bool hidden = w->state == JS_WALK_SLASH && (c == '"' || c == '\\');
    w->state = JS_WALK_OUT;
    if (hidden)
        return false;
    switch (c) {
    case '\\': /* outside of strings it escapes a quote */
        w->state = JS_WALK_SLASH;
        return false;
    case '"':
        w->is_value = w->after_key;
        w->state = w->is_value && w->find_strings ? JS_WALK_VALUE : JS_WALK_IN_STRING;
        w->key_n = w->is_value ? w->key_n : 0;
        return false;
    case '{':
    case '[':
        w->after_key = false;
        w->depth++;
        return false;
    case '}':
    case ']':
        w->after_key = false;
        *stop = w->depth > 1 ? JS_WALK_MORE : w->depth == 1 ? JS_WALK_CLOSE : JS_WALK_DELIM;
        *at -= w->depth == 0;
        w->depth -= w->depth > 0;
        return *stop != JS_WALK_MORE;
    case ',':
        w->after_key = false;
        *stop = JS_WALK_DELIM;
        *at -= w->depth == 0;
        return w->depth == 0;
    case ':':
        w->after_key = true;
        *stop = JS_WALK_KEY;
        return w->depth == w->key_depth;
    default:
        return false;
    }
}

js_walk_stop js_walk_on(js_walk *w, const char **at, const char *end)
{
    js_walk_stop stop;
    while (*at < end) {
        if (w->state == JS_WALK_VALUE) {
            w->state = JS_WALK_IN_STRING;
            if (**at != '"')
                return JS_WALK_FOUND;
        }
        if (w->state > JS_WALK_SLASH) {
            if (!walk_string(w, at, end))
                return JS_WALK_MORE;
        } else if (walk_byte(w, at, &stop)) {
            return stop;
        }
    }
    return JS_WALK_MORE;
}

static bool is_secret_word(vp_str word)
{
    static const char *const words[] = {"token", "secret", "password", "key"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (vp_str_eq_nocase(word, vp_str_of(words[i])))
            return true;
    return false;
}

bool js_names_a_secret(vp_str key)
{
    size_t start = 0;
    if (vp_str_eq_nocase(key, VP_STR("key")))
        return false;
    for (size_t i = 0; i <= key.n; i++) {
        if (i < key.n && key.p[i] != '_' && key.p[i] != '-' && key.p[i] != '.')
            continue;
        if (is_secret_word((vp_str){key.p + start, i - start}))
            return true;
        start = i + 1;
    }
    return false;
}
