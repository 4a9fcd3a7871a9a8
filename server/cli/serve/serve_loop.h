/* Runs `serve` until it is stopped, and prints its messages.
 *
 * On SIGINT or SIGTERM the listeners close, requests in flight get 7 s, and the rest is cut off; 9
 * s after the signal the process exits in any case. A second signal calls _exit(130). SIGHUP
 * rescans the directory, or stops the server if its terminal is gone. With a token no browser is
 * opened: the command line of the browser is visible to other users, and a redirect from a file://
 * page would lose the SameSite cookie. */
#ifndef VP_CLI_SERVE_LOOP_H
#define VP_CLI_SERVE_LOOP_H

#include "server/cli/language/cli_options.h"
#include "server/routes/site/site.h"

/* Prints the URL, opens the browser, and waits for the end. Returns an exit code. */
int serve_loop(const cli_options *o, site *s);

#endif
