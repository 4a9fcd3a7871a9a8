/* Restricts the server to the files that it reads and writes, by Landlock. */
#ifndef VP_CLI_SERVE_SANDBOX_H
#define VP_CLI_SERVE_SANDBOX_H

#include <stdbool.h>

#include "server/cli/language/cli_options.h"
#include "server/routes/site/site.h"

/* Drops every permission that serving this site does not need; no effect without Landlock or with
 * --no-sandbox. Must be called before any thread is started. */
int serve_sandbox(const cli_options *o, const site_options *opts);
/* TensorBoard is a third-party program that can be installed anywhere; the files that it reads are
 * not known. */
bool serve_may_start_tensorboard(const cli_options *o);

#endif
