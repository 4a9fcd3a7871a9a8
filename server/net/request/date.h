/* Dates of HTTP (RFC 9110 5.6.7): one form is written, three are read. Pure functions without
 * locale or time zone. */
#ifndef VP_NET_DATE_H
#define VP_NET_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"

/* "Sun, 06 Nov 1994 08:49:37 GMT" with its NUL. */
#define HTTP_DATE_SIZE 30u
/* The year 10000: the form has four digits for the year. */
#define HTTP_DATE_END INT64_C(253402300800)

/* Unix seconds as text; false, and "" in out, for what the form cannot hold. */
bool http_date_put(char out[HTTP_DATE_SIZE], int64_t unix_s);
/* IMF-fixdate, RFC 850 (two digits of the year: the last such year that is at most 50 years after
 * now_s) or asctime. false: no date, which makes a condition void. The day's name is not read. */
bool http_date_parse(vp_str s, int64_t now_s, int64_t *out);

#endif
