/* The user's browser: $BROWSER or xdg-open, started by argv and never through a shell; and what to
 * tell a user who sits at the other end of an ssh connection. Included by server/api and
 * server/cli. Thread-safe as far as getenv is. */
#ifndef VP_API_BROWSER_H
#define VP_API_BROWSER_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/buf.h"

/* True over ssh, unless $BROWSER says that one can be opened from here (remote editors do). */
bool browser_is_remote(void);
/* Starts the browser on an http URL and returns at once; $BROWSER may name several programs with
 * ':' between them, each with "%s" for the URL. VP_ENOTFOUND: none could be started. */
int browser_open(const char *url);
/* "ssh -N -L 9001:127.0.0.1:9001 user@host": to be run at the other end. */
int browser_put_tunnel(vp_buf *b, uint16_t port);

#endif
