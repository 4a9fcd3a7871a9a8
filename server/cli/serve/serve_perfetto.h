/* Which Perfetto `serve` hands traces to: what --perfetto-ui and --offline say of it. */
#ifndef VP_CLI_SERVE_PERFETTO_H
#define VP_CLI_SERVE_PERFETTO_H

#include "server/cli/language/cli_options.h"
#include "server/routes/site/site.h"
#include "trace/base/limits.h"

/* Sets perfetto_ui and perfetto_dir; the latter points to `dir`. CLI_USAGE where the flag names a
 * directory that is no build, which was told. Looks at files, so it comes before the sandbox. */
int serve_perfetto(site_options *to, char dir[VP_PATH_MAX], const cli_options *o);

#endif
