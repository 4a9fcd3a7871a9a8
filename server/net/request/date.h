/* HTTP dates (RFC 9110 5.6.7): writes one format and parses three. Pure functions without locale
 * or time zone. */
#ifndef VP_NET_DATE_H
#define VP_NET_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"

/* "Sun, 06 Nov 1994 08:49:37 GMT" with its NUL. */
#define HTTP_DATE_SIZE 30u
/* The year 10000: the format has four digits for the year. */
#define HTTP_DATE_END INT64_C(253402300800)

/* Formats Unix seconds; false, and "" in out, if they do not fit the format. */
bool http_date_put(char out[HTTP_DATE_SIZE], int64_t unix_s);
/* Parses IMF-fixdate, RFC 850 (two-digit year: the latest year at most 50 years after now_s) or
 * asctime. false: invalid, so the condition is ignored. The name of the day is not checked. */
bool http_date_parse(vp_str s, int64_t now_s, int64_t *out);

#endif
