/* Closes connections that take too long to send a request. The timeout of libmicrohttpd counts
 * only inactivity, so a client that sends one byte per second would stay forever
 * (docs/reference/http.md#watchdog). One thread checks twice a second. Thread-safe. */
#ifndef VP_NET_WATCHDOG_H
#define VP_NET_WATCHDOG_H

#include <stdint.h>

typedef struct http_watchdog http_watchdog;
typedef struct http_watched http_watched; /* one connection */

int http_watchdog_new(http_watchdog **out);
void http_watchdog_free(http_watchdog *w); /* no connection may be watched any more */
/* Adds an accepted connection; does not own the descriptor. NULL if out of memory. */
http_watched *http_watch(http_watchdog *w, int fd);
/* Removes a connection before it is closed. c can be NULL. */
void http_unwatch(http_watchdog *w, http_watched *c);
/* Sets the time limit for the data that the client is sending; -1: none (the request is being
 * answered). */
void http_watch_limit(http_watched *c, int64_t ms);
/* Marks it idle (the daemon's timeout applies); from the first byte on, the client has head_ms for
 * its next head. */
void http_watch_idle(http_watched *c, int64_t head_ms);

#endif
