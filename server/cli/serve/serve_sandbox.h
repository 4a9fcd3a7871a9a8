/* What the server may still read and write once it serves. */
#ifndef VP_CLI_SERVE_SANDBOX_H
#define VP_CLI_SERVE_SANDBOX_H

#include <stdbool.h>

#include "server/cli/language/cli_options.h"
#include "server/routes/site/site.h"

/* Gives up every right that serving this site does not need; without Landlock, or with
 * --no-sandbox, nothing happens. Before any thread is started. */
int serve_sandbox(const cli_options *o, const site_options *opts);
/* TensorBoard is somebody else's program, installed anywhere: it may read what we cannot foresee.
 */
bool serve_may_start_tensorboard(const cli_options *o);

#endif
