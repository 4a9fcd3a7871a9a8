/* Chooses the Perfetto UI of `serve` from --perfetto-ui and --offline. */
#ifndef VP_CLI_SERVE_PERFETTO_H
#define VP_CLI_SERVE_PERFETTO_H

#include "server/cli/language/cli_options.h"
#include "server/routes/site/site.h"
#include "trace/base/limits.h"

/* Sets perfetto_ui and perfetto_dir; the latter points to `dir`. CLI_USAGE after printing an error
 * if the flag names a directory that is not a build. Reads files, so it must be called before the
 * sandbox is enabled. */
int serve_perfetto(site_options *to, char dir[VP_PATH_MAX], const cli_options *o);

#endif
