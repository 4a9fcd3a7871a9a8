/* JSON text to values: strings to UTF-8, numbers to integers, exactly. Pure functions, nothing is
 * owned. */
#ifndef VP_READ_JSON_TEXT_H
#define VP_READ_JSON_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"

/* Room for the UTF-8 of n bytes of JSON text: every invalid byte becomes U+FFFD. */
#define JS_UTF8_MAX(n) (3 * (n))

/* Writes the UTF-8 of a string's text to dst (JS_UTF8_MAX(raw.n) bytes), returns its length.
 * Surrogate pairs become one character; lone surrogates, bad escapes of \u and invalid bytes
 * U+FFFD; an unknown escape loses its backslash, as in Perfetto. */
size_t js_unescape(vp_str raw, char *dst);

/* As vp_str_us_to_ps, but fast for "digits[.digits]", which nearly all times are. */
bool js_us_to_ps(vp_str s, int64_t base_us, int64_t *ps);

/* The whole part of a number, exact to 16 digits, fraction and exponent allowed. false: none, or
 * beyond 64 bits. */
bool js_about(vp_str s, int64_t *value);

/* What a file's times count from, given its first one: 0 below so many µs (11 days), so that
 * positions read as in the file; above, picoseconds of Unix time would not fit 64 bits, and any
 * whole µs near the first will do. false: it is no number. */
#define JS_PLAIN_TIME_MAX_US INT64_C(1000000000000)
bool js_time_base(vp_str first, int64_t *base_us);

/* A pid or tid: an integer that fits 64 bits with or without sign, "7" and "7.0" alike; values
 * above INT64_MAX keep their bits. false: it is a name. */
bool js_to_id(vp_str s, int64_t *id);

/* A count such as bytes or flops: digits, with or without a fraction (dropped). Else -1. */
int64_t js_to_count(vp_str s);

#endif
