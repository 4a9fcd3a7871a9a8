/* Cuts connections that take too long to send a request: libmicrohttpd's timeout only counts
 * inactivity, so a byte a second lives for ever (docs/reference/http.md#watchdog). One thread looks
 * twice a second. Thread-safe. */
#ifndef VP_NET_WATCHDOG_H
#define VP_NET_WATCHDOG_H

#include <stdint.h>

typedef struct http_watchdog http_watchdog;
typedef struct http_watched http_watched; /* one connection */

int http_watchdog_new(http_watchdog **out);
void http_watchdog_free(http_watchdog *w); /* no connection may be watched any more */
/* A connection was accepted; the descriptor stays its owner's. NULL when out of memory. */
http_watched *http_watch(http_watchdog *w, int fd);
/* It is going to be closed. c may be NULL. */
void http_unwatch(http_watchdog *w, http_watched *c);
/* It has to finish what it is sending within ms from now; -1: no limit (we are answering). */
void http_watch_limit(http_watched *c, int64_t ms);
/* It may stay idle (the daemon's timeout ends that); from the first byte that it sends on, it has
 * head_ms for the whole of its next head. */
void http_watch_idle(http_watched *c, int64_t head_ms);

#endif
