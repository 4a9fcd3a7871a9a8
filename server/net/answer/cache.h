/* Finished conversions, so that a trace that was converted once is a plain file the next time: with
 * a length, ranges and sendfile. They live in unlinked temporary files: nothing is written where
 * the user would see it, nothing is left behind, and nobody else can change them. Least recently
 * used ones give way. Thread-safe. */
#ifndef VP_NET_CACHE_H
#define VP_NET_CACHE_H

#include <stdbool.h>

#include "server/net/answer/http_source.h"

typedef struct http_cache http_cache;

int http_cache_new(http_cache **out);
void http_cache_free(http_cache *c); /* no source of http_cache_fill may be left */
/* A descriptor (the caller's) of what was kept under key; false when there is nothing. */
bool http_cache_get(http_cache *c, const char *key, int *fd);
/* Wraps a source (taken, also on failure) into one that delivers the same and keeps it when it came
 * to its end. Where it cannot be kept (full disk, above VP_HTTP_CACHE_BYTES_MAX, no descriptors) it
 * or lacks something by its own word, it is delivered all the same. key: at most 95 characters. */
int http_cache_fill(http_source *out, http_source in, http_cache *c, const char *key);

#endif
