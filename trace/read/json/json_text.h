/* Conversion of JSON text to values: strings to UTF-8, numbers to exact integers. Pure functions;
 * nothing is allocated. */
#ifndef VP_READ_JSON_TEXT_H
#define VP_READ_JSON_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"

/* Size of the UTF-8 of n bytes of JSON text: every invalid byte becomes U+FFFD. */
#define JS_UTF8_MAX(n) (3 * (n))

/* Writes a string's text as UTF-8 to dst (JS_UTF8_MAX(raw.n) bytes) and returns its length. A
 * surrogate pair becomes one character. Lone surrogates, bad \u escapes and invalid bytes become
 * U+FFFD. An unknown escape loses its backslash, as in Perfetto. */
size_t js_unescape(vp_str raw, char *dst);

/* Like vp_str_us_to_ps, with a fast path for "digits[.digits]", the form of nearly all times. */
bool js_us_to_ps(vp_str s, int64_t base_us, int64_t *ps);

/* The integer part of a number, exact to 16 digits; fraction and exponent are allowed. false: not a
 * number, or beyond 64 bits. */
bool js_about(vp_str s, int64_t *value);

/* Base of a file's times, given its first one. It is 0 below this number of µs (11 days), so that
 * times read as in the file. Above, Unix time in ps does not fit in 64 bits, and the first time in
 * whole µs is the base. false: not a number. */
#define JS_PLAIN_TIME_MAX_US INT64_C(1000000000000)
bool js_time_base(vp_str first, int64_t *base_us);

/* Parses a pid or tid: an integer of 64 bits with or without sign, "7" and "7.0" alike; values
 * above INT64_MAX keep their bits. false: it is a name. */
bool js_to_id(vp_str s, int64_t *id);

/* A count such as bytes or FLOP: digits; a fraction is dropped. Else -1. */
int64_t js_to_count(vp_str s);

#endif
