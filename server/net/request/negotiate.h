/* What a client accepts and already has: Accept-Encoding, entity tags, dates, Range (RFC 9110
 * 12.5.3, 8.8.3, 13.1, 14.1). Pure functions. */
#ifndef VP_NET_NEGOTIATE_H
#define VP_NET_NEGOTIATE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"

typedef enum http_coding { HTTP_IDENTITY, HTTP_GZIP, HTTP_NO_CODING } http_coding;

/* The coding to send. Gzip where it can be had and is named (or "x-gzip", or "*") with a weight
 * above 0 that identity does not exceed; HTTP_NO_CODING (406) where identity is refused
 * ("identity;q=0", "*;q=0") and gzip cannot be had or is refused too. */
http_coding http_choose_coding(vp_str accept_encoding, bool can_gzip);
/* If-None-Match: "*", or a list that holds the tag; compared weakly (W/ does not count). */
bool http_etag_listed(vp_str list, vp_str etag);
/* If-Match: the same, compared strongly: weak tags never match. */
bool http_etag_listed_strong(vp_str list, vp_str etag);
/* If-Range: exactly this strong tag, or exactly this Last-Modified ("" for none) when it is a
 * strong validator, which the caller knows (RFC 9110 8.8.2.2). */
bool http_if_range(vp_str value, vp_str etag, vp_str last_modified);
/* One byte range of a file. 206: *first..*last inclusive is to be sent; 416: not satisfiable;
 * 200: no range of ours (another unit, several ranges, or not a Range at all): send everything. */
int http_range(vp_str value, int64_t size, int64_t *first, int64_t *last);

#endif
