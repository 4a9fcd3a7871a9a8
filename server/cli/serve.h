/* The parts of `view_profile serve`. Included by cmd_serve.c and serve_*.c only.
 *
 * The end: listeners close, requests in flight get 7 s, then what is left is cut; 9 s after the
 * signal the program ends whatever a file keeps it at. A second SIGINT or SIGTERM is _exit(130).
 * SIGHUP is a rescan, unless the terminal that we were started from is gone: then it is the end.
 * With a token no browser is opened: its command line is public, and a page of file:// that led
 * there would lose the SameSite cookie. */
#ifndef VP_CLI_SERVE_H
#define VP_CLI_SERVE_H

#include "server/cli/cli.h"
#include "server/routes/site.h"

#define SERVE_TOKEN_MAX 256

/* serve_token.c: the token of --token-file or $VIEW_PROFILE_TOKEN, which children then do not see;
 * "" for neither. token has SERVE_TOKEN_MAX + 1 bytes. */
int serve_token(char *token, const cli_options *o);

/* serve_sandbox.c: gives up every right that serving `dir` does not need; without Landlock, or with
 * --no-sandbox, nothing happens. Before any thread is started. */
int serve_sandbox(const cli_options *o, const char *dir);
/* TensorBoard is somebody else's program, installed anywhere: it may read what we cannot foresee.
 */
bool serve_may_start_tensorboard(const cli_options *o);

/* serve_signals.c. First of all blocks the signals that the loop waits for. */
void serve_block_signals(void);
typedef enum serve_event { SERVE_NOTHING, SERVE_STOP, SERVE_RESCAN } serve_event;
/* Waits for a signal at most wait_ms (-1: for ever). */
serve_event serve_wait_signal(int wait_ms);
/* From now on a second signal ends the program at once, with 130. */
void serve_arm_second_signal(void);

/* serve_loop.c: tells where the site is, opens the browser, waits for the end. Returns an exit
 * code. */
int serve_loop(const cli_options *o, site *s);

#endif
