/* Writes JSON into a vp_buf. The writer cannot produce broken nesting or unescaped bytes. Invalid
 * UTF-8 becomes U+FFFD, control characters become \u00XX, and non-ASCII characters are written raw
 * (Perfetto crashes on escaped surrogates). Errors are kept in the buffer. Small JSON texts are
 * read with jansson. */
#ifndef VP_BASE_JSON_H
#define VP_BASE_JSON_H

#include <stdbool.h>

#include "trace/base/buf.h"

typedef struct vp_json {
    vp_buf *b;
    unsigned depth;
    bool has_item; /* the innermost open container has an item */
    bool after_key;
} vp_json;

void vp_json_init(vp_json *j, vp_buf *b);
void vp_json_begin_object(vp_json *j);
void vp_json_end_object(vp_json *j);
void vp_json_begin_array(vp_json *j);
void vp_json_end_array(vp_json *j);
void vp_json_key(vp_json *j, const char *key);
void vp_json_str(vp_json *j, vp_str s);
void vp_json_cstr(vp_json *j, const char *z); /* NULL writes null */
void vp_json_i64(vp_json *j, int64_t v);
void vp_json_u64(vp_json *j, uint64_t v);
void vp_json_bool(vp_json *j, bool v);
void vp_json_null(vp_json *j);
/* num/den as a decimal with 9 digits, rounded half up; null if den is 0. For shares. */
void vp_json_ratio(vp_json *j, int64_t num, int64_t den);
/* A finite double with up to 9 significant digits; else null. Not for times, which must be
 * exact. */
void vp_json_double(vp_json *j, double v);
/* Appends only the quoted, escaped string, without a separator. */
int vp_json_quote(vp_buf *b, vp_str s);

/* Write "key": value in one call. */
void vp_json_kstr(vp_json *j, const char *key, vp_str s);
void vp_json_kcstr(vp_json *j, const char *key, const char *z);
void vp_json_ki64(vp_json *j, const char *key, int64_t v);
void vp_json_kbool(vp_json *j, const char *key, bool v);
void vp_json_kdouble(vp_json *j, const char *key, double v);
/* v < 0 (unknown) writes null. */
void vp_json_kcount(vp_json *j, const char *key, int64_t v);

#endif
