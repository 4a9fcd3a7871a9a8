/* `export --to folded` and `--to speedscope`: op time of a run by stack. */
#ifndef VP_CLI_EXPORT_STACKS_H
#define VP_CLI_EXPORT_STACKS_H

#include "server/cli/language/cli_options.h"

/* Analyzes the run and writes the format of o->to. 0 or an error. */
int cli_export_stacks(const cli_options *o);

#endif
