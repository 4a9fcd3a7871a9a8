/* Parses what a client accepts and already has: Accept-Encoding, entity tags, dates, Range (RFC
 * 9110 12.5.3, 8.8.3, 13.1, 14.1). Pure functions. */
#ifndef VP_NET_NEGOTIATE_H
#define VP_NET_NEGOTIATE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"

typedef enum http_coding { HTTP_IDENTITY, HTTP_GZIP, HTTP_NO_CODING } http_coding;

/* The encoding to send. gzip if it is available and accepted (or "x-gzip", or "*") with a weight
 * above 0 and not below that of identity; HTTP_NO_CODING (406) if identity is refused
 * ("identity;q=0", "*;q=0") and gzip is not available or refused as well. */
http_coding http_choose_coding(vp_str accept_encoding, bool can_gzip);
/* If-None-Match: "*", or a list that contains the tag; weak comparison (W/ is ignored). */
bool http_etag_listed(vp_str list, vp_str etag);
/* If-Match: the same with strong comparison: weak tags never match. */
bool http_etag_listed_strong(vp_str list, vp_str etag);
/* If-Range: exactly this strong tag, or exactly this Last-Modified ("" for none) if the caller
 * knows that it is a strong validator (RFC 9110 8.8.2.2). */
bool http_if_range(vp_str value, vp_str etag, vp_str last_modified);
/* Parses a single byte range. 206: send *first..*last inclusive; 416: not satisfiable; 200:
 * unsupported range (another unit, several ranges, malformed): send everything. */
int http_range(vp_str value, int64_t size, int64_t *first, int64_t *last);

#endif
