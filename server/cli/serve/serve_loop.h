/* What `view_profile serve` prints while it runs, and how it ends.
 *
 * The end: listeners close, requests in flight get 7 s, then what is left is cut; 9 s after the
 * signal the program ends whatever a file keeps it at. A second SIGINT or SIGTERM is _exit(130).
 * SIGHUP is a rescan, unless the terminal that we were started from is gone: then it is the end.
 * With a token no browser is opened: its command line is public, and a page of file:// that led
 * there would lose the SameSite cookie. */
#ifndef VP_CLI_SERVE_LOOP_H
#define VP_CLI_SERVE_LOOP_H

#include "server/cli/language/cli_options.h"
#include "server/routes/site/site.h"

/* Tells where the site is, opens the browser, waits for the end. Returns an exit
 * code. */
int serve_loop(const cli_options *o, site *s);

#endif
