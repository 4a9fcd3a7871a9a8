/* Cache of finished conversions, so that a converted trace is served as a file the next time, with
 * a length, ranges and sendfile. Entries are unlinked temporary files: invisible, removed with the
 * process, and not writable by others. The least recently used entries are evicted. Thread-safe. */
#ifndef VP_NET_CACHE_H
#define VP_NET_CACHE_H

#include <stdbool.h>

#include "server/net/answer/http_source.h"

typedef struct http_cache http_cache;

int http_cache_new(http_cache **out);
void http_cache_free(http_cache *c); /* all sources of http_cache_fill must be closed before */
/* Returns a descriptor, owned by the caller, of the entry for key; false if there is none. */
bool http_cache_get(http_cache *c, const char *key, int *fd);
/* Wraps a source (takes ownership, also on failure) in one that delivers the same bytes and caches
 * them if it is read to the end. The bytes are also delivered if they cannot be cached (full disk,
 * above VP_HTTP_CACHE_BYTES_MAX, no descriptors, or the source reports that it is incomplete). key:
 * at most 95 characters. */
int http_cache_fill(http_source *out, http_source in, http_cache *c, const char *key);

#endif
