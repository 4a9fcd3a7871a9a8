/* `view_profile --list-only` and `--extract`: what is done before anything is served, or
 * instead. */
#ifndef VP_CLI_ORIGINAL_FLAGS_H
#define VP_CLI_ORIGINAL_FLAGS_H

#include <stdbool.h>

#include "server/cli/language/cli_options.h"

/* Whether they are all that `serve` was asked for. */
bool cli_serves_nothing(const cli_options *o);
/* Does both, in this order; an exit code. dir has VP_PATH_MAX bytes and becomes the directory that
 * is left to serve, "" where nothing is. */
int cli_original_flags(const cli_options *o, char *dir);

#endif
