/* `export --to folded` and `--to speedscope`: the op time of a run by stacks. */
#ifndef VP_CLI_EXPORT_STACKS_H
#define VP_CLI_EXPORT_STACKS_H

#include "server/cli/language/cli_options.h"

/* Analyses the run and writes the document that o->to names. 0, or a failure. */
int cli_export_stacks(const cli_options *o);

#endif
