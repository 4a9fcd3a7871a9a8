/* `view_profile --list-only` and `--extract`: the work that is done before or instead of serving.
 */
#ifndef VP_CLI_ORIGINAL_FLAGS_H
#define VP_CLI_ORIGINAL_FLAGS_H

#include <stdbool.h>

#include "server/cli/language/cli_options.h"

/* True if nothing has to be served afterwards. */
bool cli_serves_nothing(const cli_options *o);
/* Executes both, in this order; returns an exit code. dir (VP_PATH_MAX bytes) is set to the
 * directory that remains to be served, "" if none. */
int cli_original_flags(const cli_options *o, char *dir);

#endif
