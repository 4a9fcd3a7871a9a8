/* Decodes the request target, exactly once. libmicrohttpd passes the raw text, because it would
 * cut at %00. A target that two parsers could interpret differently is rejected, not repaired.
 * Pure functions. */
#ifndef VP_NET_PATH_H
#define VP_NET_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/base/limits.h"
#include "trace/base/str.h"

#define HTTP_SEGMENTS_MAX 12u
#define HTTP_QUERY_MAX 32u

typedef struct http_target {
    const char *segments[HTTP_SEGMENTS_MAX]; /* decoded, NUL-terminated, into text */
    size_t segment_count;                    /* 0 for "/" */
    bool trailing_slash;                     /* "/a/"; false for "/" */
    struct {
        const char *key, *value; /* decoded; the value is "" without "=" */
    } query[HTTP_QUERY_MAX];
    size_t query_count;
    char text[VP_HTTP_TARGET_MAX + 2 * HTTP_QUERY_MAX + HTTP_SEGMENTS_MAX];
} http_target;

/* Parses an origin-form target ("/path?query"). Returns 0, or the status to send: 414 if it is
 * longer than VP_HTTP_TARGET_MAX; 400 for anything except visible ASCII, '#', '\', invalid or NUL
 * escapes, escaped '/' or '\', control characters, invalid UTF-8, "." and "..", empty segments
 * except a trailing one; 404 for more segments than any route has. *why is a constant text. */
int http_target_parse(http_target *t, vp_str raw, const char **why);
/* The first value of a key, or NULL. */
const char *http_target_query(const http_target *t, const char *key);

#endif
