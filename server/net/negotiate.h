/* What a client accepts and already has: Accept-Encoding, entity tags, Range (RFC 9110 12.5.3,
 * 8.8.3, 14.1). Pure functions; included by server/net only. */
#ifndef VP_NET_NEGOTIATE_H
#define VP_NET_NEGOTIATE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"

/* True when gzip may be sent: named (or "x-gzip", or "*") with a weight above 0. */
bool http_accepts_gzip(vp_str accept_encoding);
/* If-None-Match: "*", or a list that holds the tag; compared weakly (W/ does not count). */
bool http_etag_listed(vp_str list, vp_str etag);
/* If-Match: the same, compared strongly: weak tags never match. */
bool http_etag_listed_strong(vp_str list, vp_str etag);
/* If-Range: exactly this strong tag (dates never match: we send no Last-Modified). */
bool http_if_range(vp_str value, vp_str etag);
/* One byte range of a file. 206: *first..*last inclusive is to be sent; 416: not satisfiable;
 * 200: no range of ours (another unit, several ranges, or not a Range at all): send everything. */
int http_range(vp_str value, int64_t size, int64_t *first, int64_t *last);

#endif
