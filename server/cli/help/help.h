/* --help and `help`, printed from the tables of commands and options. */
#ifndef VP_CLI_HELP_H
#define VP_CLI_HELP_H

#include "server/cli/language/table.h"

int cli_print_help(const cli_command *c); /* NULL: overall. Returns an exit code. */

#endif
